// One entry of the library of attacks: what it is, which access it exploits, how it shows, the rule
// that stops it, how far a gate can stop it at all, and where it was seen. The entries are data
// (attacks.json), in our own words with facts from public reports; which of them fit a tool is in link-attacks.ts.

import type { Category } from '@sluice/policy/core/tools'
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
  readonly id: string
  readonly name: string
  readonly what: string
  /** The classes of tools it needs. */
  readonly access: readonly Category[]
  /** What of a tool makes it a target beyond its class. */
  readonly signal: AttackIndicator
  readonly shows: string
  /** A whole policy document; `{tool}` and `{arg}` stand for the tool and argument at hand. */
  readonly rule: string
  /** How far a gate can stop it: the `no`s are said in public. */
  readonly gate: 'yes' | 'partly' | 'no'
  readonly bounds: string
  readonly incident: string
}
