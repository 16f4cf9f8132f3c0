// Which kinds of data any rule of a policy, or of its base policy, looks for in the arguments of a call. What no
// rule reads is not looked for. Cached per policy.

import type { NumberKind } from '../core/data-kinds.ts'
import { type CompiledPolicy, listRules } from './policy.ts'

const KNOWN = new WeakMap<CompiledPolicy, ReadonlySet<'secret' | NumberKind>>()

export function argumentKindsRead(policy: CompiledPolicy): ReadonlySet<'secret' | NumberKind> {
  const known = KNOWN.get(policy)
  if (known !== undefined) return known
  const { house } = policy
  const rules = [...listRules(policy), ...(house === undefined ? [] : listRules(house))]
  const variables = rules.flatMap(({ when }) => when?.expression.variables ?? [])
  const kinds = new Set(
    (['secret', 'card', 'iban'] as const).filter((kind) =>
      variables.some(({ root, path: [name] }) => root === 'call' && name === kind),
    ),
  )
  KNOWN.set(policy, kinds)
  return kinds
}
