// Second step of a start: who may call, who may decide, and the logins of callers at servers.

import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import type { Grants } from '@sluice/access/identity/callers/grants'
import { Logins } from '@sluice/access/identity/oauth/logins'
import type { People } from '@sluice/access/identity/people/people'
import { openAuthenticator } from './open-authenticator.ts'
import type { GateData } from './open-data.ts'
import { openPeople } from './open-people.ts'
import { shareLogins } from './share-logins.ts'

export interface GateIdentity {
  /** The people who may decide. */
  readonly people: People
  /** The logins of callers at servers. */
  readonly logins: Logins
  readonly authenticator: Authenticator
  /** Who may call what, by which policy. */
  readonly grants: Grants
}

export async function openIdentity(
  data: GateData,
  closing: AsyncDisposableStack,
): Promise<GateIdentity> {
  const { config, late, ledger, log, policies, shared } = data
  const people = openPeople(config.data, log, closing)
  const logins = Logins.open(config.data, shared?.key)
  closing.defer(() => logins.close())
  if (shared !== undefined) closing.defer(shareLogins(shared, logins))
  const callers = await openAuthenticator(
    {
      config,
      policies: () => policies.now,
      endUnheld: () => late.gate?.sessions.endUnheld(),
      ledger,
      log,
    },
    closing,
  )
  return { people, logins, ...callers }
}
