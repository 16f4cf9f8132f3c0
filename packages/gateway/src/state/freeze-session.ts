// Freezes a session whose agent sent a planted value (canary): at once, whatever cannot be written, and
// recorded as any freeze. A person thaws it with `sluice freeze --lift --session ID`.

import type { Ledger } from '@sluice/ledger/ledger'
import type { Log } from '../shared/log.ts'
import type { FreezeStore } from './freezes.ts'

export interface SessionFreezeParts {
  readonly freezes: FreezeStore
  readonly ledger: Pick<Ledger, 'event'>
  readonly log: Log
  /** Ends open calls of what is frozen; says how many. */
  readonly interrupt: () => number
}

export function freezeSessions(
  parts: SessionFreezeParts,
): (session: string, canary: string) => void {
  const { freezes, ledger, log, interrupt } = parts
  return (session, canary) => {
    if (freezes.find('session', session) !== undefined) return
    const why = 'a planted value was sent'
    const frozen = { scope: 'session', id: session, atMs: Date.now(), why } as const
    const attempt = (step: () => void) => {
      try {
        step()
      } catch (error) {
        log('error', 'a session could not be frozen for good', { why: (error as Error).message })
      }
    }
    attempt(() => freezes.hold(frozen))
    attempt(() => freezes.keep(frozen))
    log('error', 'a planted value was sent: the session is frozen', { session, canary })
    // After the call itself has been answered.
    setImmediate(() => {
      const cancelled = interrupt()
      const detail = { scope: frozen.scope, id: session, why, canary, cancelled }
      ledger.event({ atMs: frozen.atMs, name: 'freeze', detail }).catch((error: Error) => {
        log('error', 'a freeze is not on record', { why: error.message })
      })
    })
  }
}
