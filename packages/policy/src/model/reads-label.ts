// Whether any rule of a policy, or of its base policy, reads a session label. Labels that no rule
// reads are not detected. Cached per policy.

import { type CompiledPolicy, listRules } from './policy.ts'

const KNOWN = new WeakMap<CompiledPolicy, ReadonlySet<string>>()

export function labelsRead(policy: CompiledPolicy): ReadonlySet<string> {
  const known = KNOWN.get(policy)
  if (known !== undefined) return known
  const rules = [
    ...listRules(policy),
    ...(policy.house === undefined ? [] : listRules(policy.house)),
  ]
  const read = rules.flatMap(({ when }) =>
    (when?.expression.variables ?? []).flatMap(({ root, path: [name, label] }) =>
      root === 'session' && name === 'saw' && label !== undefined ? [label] : [],
    ),
  )
  const labels = new Set(read)
  KNOWN.set(policy, labels)
  return labels
}
