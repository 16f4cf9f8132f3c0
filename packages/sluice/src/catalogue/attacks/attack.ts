// One entry of the library of attacks: what it is, which access it exploits, how it shows, the rule
// that stops it, how far a gate can stop it at all, and where it was seen. The entries are data
// (attacks.json), in our own words with facts from public reports; which of them fit a tool is in link-attacks.ts.

import type { Category } from '@sluice/policy/core/tools'

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

/** What links a tool to an attack. */
export type AttackIndicator =
  /** Its definition was found to speak to the model. */
  | 'poisoned'
  | 'hidden text'
  /** A change behind its name would hurt. */
  | 'high stakes'
  | 'looks alike'
  | 'costs'
  | 'takes a path'
  | 'takes a url'
  | 'takes sql'
  | 'takes a command'
  | 'takes an option'
  | 'takes an amount'
  | 'takes many'
  | 'reads strangers'
  | 'reads private'
  | 'reads secrets'
  | 'sends outside'
  | 'runs code'
  | 'takes a pattern'
  | 'false hint'
  | 'puts itself first'
  | 'asks for context'
  /** Its name says what it is about. */
  | 'exports state'
  | 'lists tasks'
  | 'tells a state'
  | 'makes an agent'
  | 'drives an agent'
  | 'ends an agent'
  | 'changes a template'
  | 'lists templates'
  | 'shows an agent'
  /** Its class is enough. */
  | 'its class'
  /** Of the gate or the transport, not of one tool. */
  | 'none'
