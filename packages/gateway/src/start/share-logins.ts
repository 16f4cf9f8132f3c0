// Logins at servers, shared by the gates of a cluster. `sluice login` stores or removes one in the data
// directory of a gate, as without a cluster; the gate looks for that, and gives it to the others.

import type { LoginOf } from '@sluice/access/identity/oauth/login'
import type { Logins } from '@sluice/access/identity/oauth/logins'
import { SHARED_POLL_MS } from '@sluice/ledger/store/limits'
import { processClock } from '@sluice/ledger/store/process-clock'
import { SHARED_LOGIN_TABLES } from '../data/shared-tables.ts'
import type { SharedStore } from './open-shared-store.ts'

/** Shares logins at servers with the other gates. Returns a function that ends it. */
export function shareLogins(shared: SharedStore, logins: Logins): () => void {
  const { file } = logins
  shared.watch(file.database, SHARED_LOGIN_TABLES)
  const version = file.database.prepare('PRAGMA data_version')
  let seen: unknown
  let known: LoginOf[] = []
  const look = (): void => {
    const now = version.get()?.data_version
    if (now === seen) return
    seen = now
    const there = logins.adopt(processClock.nowMs())
    const names = new Set(there.map((of) => JSON.stringify(of)))
    for (const of of known)
      if (!names.has(JSON.stringify(of)))
        shared.state.tables.reportRemoved('logins', [of.server, of.principal])
    known = there
  }
  look()
  const timer = setInterval(() => {
    try {
      look()
    } catch {
      // The file is locked: it is looked at again.
      seen = undefined
    }
  }, SHARED_POLL_MS).unref()
  return () => clearInterval(timer)
}
