// How many of the known tools a policy allows, holds, denies and hides, for `sluice policy check`.

import { ACTIONS, type Action } from '@sluice/policy/calls/actions'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { getTypicalAction } from '@sluice/policy/cases/typical-action'
import type { CompiledPolicy } from '@sluice/policy/model/policy'

export type DecisionCounts = Record<Action | 'depends', number>

export function summarizeDecisions(counts: DecisionCounts): string {
  const words = [...ACTIONS, 'depends'] as const
  return words
    .filter((word) => counts[word] > 0)
    .map((word) => `${counts[word]} ${word === 'depends' ? 'by a condition' : word}`)
    .join(', ')
}

export function countDecisions(
  policy: CompiledPolicy,
  tools: readonly KnownTool[],
): DecisionCounts {
  const counts: DecisionCounts = { allow: 0, require_approval: 0, deny: 0, hide: 0, depends: 0 }
  for (const tool of tools) counts[getTypicalAction(policy, tool)]++
  return counts
}
