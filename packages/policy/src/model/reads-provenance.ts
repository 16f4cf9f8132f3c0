// Whether any rule of a policy, or of its base policy, reads where values came from, or what the
// session called before. It is remembered only then. Cached per policy.

import { isProtectionName } from '../expression/evaluate/protection.ts'
import { type CompiledPolicy, listRules } from './policy.ts'

interface MemoryReads {
  readonly provenance: boolean
  readonly past: boolean
}

const KNOWN = new WeakMap<CompiledPolicy, MemoryReads>()

export function readsProvenance(policy: CompiledPolicy): boolean {
  return findReads(policy).provenance
}

export function readsPast(policy: CompiledPolicy): boolean {
  return findReads(policy).past
}

function findReads(policy: CompiledPolicy): MemoryReads {
  const known = KNOWN.get(policy)
  if (known !== undefined) return known
  const { house } = policy
  const rules = [...listRules(policy), ...(house === undefined ? [] : listRules(house))]
  const variables = rules.flatMap(({ when }) => when?.expression.variables ?? [])
  const reads = {
    provenance: variables.some(
      ({ root, path: [name] }) => root === 'origin' || (root === 'call' && isProtectionName(name)),
    ),
    past: variables.some(({ root }) => root === 'past'),
  }
  KNOWN.set(policy, reads)
  return reads
}
