// What a change of policy means for the tools that are known: each whose decision becomes another,
// with the word before and after. For a person to look at before they apply it.

import { ACTIONS } from '@sluice/policy/calls/actions'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { getTypicalAction } from '@sluice/policy/cases/typical-action'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { Steps } from '@sluice/policy/structures/steps'

/** A type, so that it is a JsonObject too. */
export type DecisionChange = {
  readonly policy: string
  readonly tool: string
  readonly from: string
  readonly to: string
  readonly change: 'loosens' | 'tightens' | 'depends'
}

export function* listDecisionChanges(
  name: string,
  old: CompiledPolicy,
  now: CompiledPolicy,
  tools: readonly KnownTool[],
): Steps<DecisionChange[]> {
  const changes: DecisionChange[] = []
  for (const tool of tools) {
    const [from, to] = [getTypicalAction(old, tool), getTypicalAction(now, tool)]
    const { server, name: called } = tool.definition
    if (from !== to)
      changes.push({
        policy: name,
        tool: `${server}/${called}`,
        from,
        to,
        change: changeOf(from, to),
      })
    yield
  }
  return changes
}

/** A word that a condition decides is neither: the list of what loosens says more. */
function changeOf(from: string, to: string): DecisionChange['change'] {
  const [before, after] = [from, to].map((word) => (ACTIONS as readonly string[]).indexOf(word))
  if (before === undefined || after === undefined || before < 0 || after < 0) return 'depends'
  return after < before ? 'loosens' : 'tightens'
}
