// A caller for tests of the fronts: somebody with a grant, who holds.
// Nothing but the name matters to a front.

import type { Caller } from '@sluice/access/identity/callers/caller'

export function callerOf(id: string): Caller {
  const principal = { id, kind: 'grant', groups: [], claims: {} }
  return {
    principal,
    policy: 'p',
    sessions: { max: 1, windowMs: 3_600_000 },
    explain: false,
    holds: () => true,
  }
}
