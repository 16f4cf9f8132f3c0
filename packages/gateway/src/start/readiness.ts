// What `/readyz` and `sluice status` say: whether calls can be recorded, and everything that a person should
// know about the state of the gate.

import type { OpenLedger } from '../data/open-ledger.ts'
import type { TlsCertificate } from '../front/http/tls-certificate.ts'
import { describeFreezeTarget, type FreezeStore } from '../state/freezes.ts'
import type { Policies } from '../state/policies.ts'
import type { PolicySet } from '../state/policy-set.ts'
import type { Servers } from '../state/servers.ts'

interface ReadinessParts {
  readonly policies: Policies
  readonly servers: Servers
  readonly freezes: FreezeStore
  readonly tls: TlsCertificate | undefined
  /** Why the shared store admits nothing; undefined if it does, or if there is none. */
  readonly sharedWhy: string | undefined
}

export interface Readiness {
  readonly ok: boolean
  /** What a person should know, also if `ok`; empty if nothing. */
  readonly why: string
}

export function readiness(
  { ledger, why: placesWhy }: OpenLedger,
  { policies, servers, freezes, tls, sharedWhy }: ReadinessParts,
): Readiness {
  const why = [
    sharedWhy ?? ledger.fault?.message,
    placesWhy(),
    describeObserved(policies.now),
    policies.why === '' ? undefined : policies.why,
    servers.why === '' ? undefined : servers.why,
    tls?.why,
    freezes.list.length > 0
      ? `frozen: ${freezes.list.map(describeFreezeTarget).join(', ')}`
      : undefined,
  ].filter((part) => part !== undefined)
  return { ok: ledger.state === 'writing' && sharedWhy === undefined, why: why.join('; ') }
}

/** Names the policies that only observe; undefined if all are enforced. */
export function describeObserved(policies: PolicySet): string | undefined {
  const names = policies.all.filter(({ shadow }) => shadow).map(({ name }) => `\`${name}\``)
  if (names.length === 0) return undefined
  return `observing only, nothing is enforced (\`mode: shadow\`): ${names.join(', ')}`
}
