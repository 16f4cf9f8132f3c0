// Whether any rule of a policy, or of its base policy, reads where values came from. Answers are
// remembered only then. Cached per policy.

import { isProtectionName } from '../expression/evaluate/protection.ts'
import { type CompiledPolicy, listRules } from './policy.ts'

const KNOWN = new WeakMap<CompiledPolicy, boolean>()

export function readsProvenance(policy: CompiledPolicy): boolean {
  let known = KNOWN.get(policy)
  if (known === undefined) {
    const { house } = policy
    const rules = [...listRules(policy), ...(house === undefined ? [] : listRules(house))]
    known = rules.some(({ when }) =>
      when?.expression.slots.some(
        ({ root, path: [name] }) =>
          root === 'origin' || (root === 'call' && isProtectionName(name)),
      ),
    )
    KNOWN.set(policy, known)
  }
  return known
}
