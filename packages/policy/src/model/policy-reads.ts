// What the rules of a policy and of its base policy read of a session and of arguments: labels, kinds of data, where
// values came from, what was called before. What no rule reads is not looked for, and not remembered.

import { isProtectionName } from '../expression/evaluate/protection.ts'
import { memoizeFor } from '../structures/memoize.ts'
import { type CompiledPolicy, listAllRules } from './policy.ts'

/** What the rules of a policy and of its base policy read. */
export interface PolicyReads {
  /** Labels of a session that a condition reads. */
  readonly labels: ReadonlySet<string>
  /** Kinds of data that are looked for in arguments. */
  readonly kinds: ReadonlySet<'secret' | 'card' | 'iban'>
  /** A rule reads where values came from. */
  readonly provenance: boolean
  /** A rule reads what the session called before. */
  readonly past: boolean
}

/** Found once for each policy. */
export const findReads = memoizeFor((policy: CompiledPolicy): PolicyReads => {
  const variables = listAllRules(policy).flatMap(({ when }) => when?.expression.variables ?? [])
  const ofCall = variables.flatMap(({ root, path: [name] }) => (root === 'call' ? [name] : []))
  return {
    labels: new Set(
      variables.flatMap(({ root, path: [name, label] }) =>
        root === 'session' && name === 'saw' && label !== undefined ? [label] : [],
      ),
    ),
    kinds: new Set((['secret', 'card', 'iban'] as const).filter((kind) => ofCall.includes(kind))),
    provenance: ofCall.some(isProtectionName) || variables.some(({ root }) => root === 'origin'),
    past: variables.some(({ root }) => root === 'past'),
  }
})
