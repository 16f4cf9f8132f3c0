// One entry of the library of attacks: what it is, which access it exploits, how it shows, the rule
// that stops it, how far a gate can stop it at all, and where it was seen. The entries are
// in attack-list.ts.

import type { Category } from '@sluice/policy/calls/tools'
import type { AttackIndicator } from './attack-indicators.ts'

/**
 * One entry of the library of attacks through tools.
 *
 * @example
 * ```ts
 * const poisoning: Attack | undefined = ATTACKS.find(({ id }) => id === 'A01')
 * ```
 */
export interface Attack {
  /** `A01`, which stays when the library grows. */
  readonly id: string
  readonly name: string
  /** What happens, as a clause without a full stop. */
  readonly what: string
  /** The classes of tools it needs. */
  readonly access: readonly Category[]
  /** What of a tool makes it a target beyond its class. */
  readonly signal: AttackIndicator
  /** How it shows in a definition, an answer or a sequence of calls. */
  readonly shows: string
  /** A whole policy document; `{tool}` and `{arg}` stand for the tool and argument at hand. */
  readonly rule: string
  /** How far a gate can stop it. The documentation also lists each `no`. */
  readonly gate: 'yes' | 'partly' | 'no'
  /** What a gate does not see of it. */
  readonly bounds: string
  /** Where it was seen. If it is missing, there is no public report: the attack follows from what such a tool returns
   * or changes. */
  readonly incident?: string
}
