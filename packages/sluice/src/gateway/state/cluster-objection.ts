// What a policy may not use while gates share a store, because it would be counted or remembered by each
// gate alone: limits for a session or an agent, and labels. Refused rather than enforced at one gate only.

import { type CompiledPolicy, listRules } from '@sluice/policy/model/policy'

const NOT_SHARED = /\b(session|agent)\b/

export function clusterObjection(policies: Iterable<CompiledPolicy>): string | undefined {
  const all = [...policies].flatMap((policy) => (policy.house ? [policy, policy.house] : [policy]))
  for (const policy of all) {
    const where = `\`${policy.name}\``
    if (policy.labels.size > 0) return `${where} has \`labels\`, ${LATER}`
    for (const { limits, pointer, when } of listRules(policy)) {
      const limit = limits.find(({ per }) =>
        per.some(({ by }) => by === 'session' || by === 'agent'),
      )
      if (limit !== undefined)
        return `${where} ${pointer} limits ${limit.text}, ${LATER}; write \`per: principal\` or \`per: everyone\``
      const [read] = NOT_SHARED.exec(when?.expression.text ?? '') ?? []
      if (read !== undefined) return `${where} ${pointer} reads \`${read}\`, ${LATER}`
    }
  }
  return undefined
}

const LATER = 'which needs the embedded store for now: sessions are not shared by gates'
