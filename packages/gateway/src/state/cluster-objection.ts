// What a policy may not use while gates share a store, because each gate would count it alone: the number of
// calls of a session. Refused rather than decided by a part of it.

import { type CompiledPolicy, listRules } from '@sluice/policy/model/policy'

const NOT_SHARED = /\bsession\s*\.\s*calls\b/

export function clusterObjection(policies: Iterable<CompiledPolicy>): string | undefined {
  const all = [...policies].flatMap((policy) => (policy.base ? [policy, policy.base] : [policy]))
  for (const policy of all)
    for (const { pointer, when } of listRules(policy))
      if (NOT_SHARED.test(when?.expression.text ?? ''))
        return `\`${policy.name}\` ${pointer} reads \`session.calls\`, which gates do not share; write a limit \`per: session\``
  return undefined
}
