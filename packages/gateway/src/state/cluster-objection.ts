// What a policy may not use while gates share a store, because each gate would count it alone: the
// calls and the tokens of a session. Refused rather than decided by a part of it.

import { type CompiledPolicy, listRules } from '@sluice/policy/model/policy'

const NOT_SHARED = new Set(['calls', 'tokens'])

export function clusterObjection(policies: Iterable<CompiledPolicy>): string | undefined {
  const all = [...policies].flatMap((policy) => (policy.base ? [policy, policy.base] : [policy]))
  for (const policy of all)
    for (const { pointer, when } of listRules(policy)) {
      const variables = when?.expression.variables ?? []
      const name = variables.find(
        ({ root, path: [member = ''] }) => root === 'session' && NOT_SHARED.has(member),
      )?.path[0]
      if (name !== undefined)
        return `\`${policy.name}\` ${pointer} reads \`session.${name}\`, which gates do not share; write a limit \`per: session\``
    }
  return undefined
}
