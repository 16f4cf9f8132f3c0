// What the rules of a policy and of its base policy read of a session and of arguments: labels, kinds of data, where
// values came from, what was called before. What no rule reads is not looked for, and not remembered.

import { memoizeFor } from '../core/memoize.ts'
import { isProtectionName } from '../expression/evaluate/protection.ts'
import { type CompiledPolicy, listAllRules } from './policy.ts'

/** Once for each policy. */
export const findReads = memoizeFor((policy: CompiledPolicy) => {
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
