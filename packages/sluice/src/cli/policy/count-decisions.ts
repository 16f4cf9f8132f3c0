// How many of the known tools a policy allows, holds, denies and hides, for `sluice policy check`.

import { getTypicalAction } from '@sluice/policy/cases/typical-action'
import { ACTIONS, type Action } from '@sluice/policy/core/actions'
import type { KnownTool } from '@sluice/policy/core/tools'
import type { CompiledPolicy } from '@sluice/policy/model/policy'

export type Verdicts = Record<Action | 'depends', number>

export function summarizeVerdicts(verdicts: Verdicts): string {
  const words = [...ACTIONS, 'depends'] as const
  return words
    .filter((word) => verdicts[word] > 0)
    .map((word) => `${verdicts[word]} ${word === 'depends' ? 'by a condition' : word}`)
    .join(', ')
}

export function countVerdicts(policy: CompiledPolicy, tools: readonly KnownTool[]): Verdicts {
  const counts: Verdicts = { allow: 0, require_approval: 0, deny: 0, hide: 0, depends: 0 }
  for (const tool of tools) counts[getTypicalAction(policy, tool)]++
  return counts
}
