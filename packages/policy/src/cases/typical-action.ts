// What happens to a typical call of a tool, for overviews: no limit reached, a new session, an
// ordinary caller. If a condition decides, the result is that it depends.

import type { Action } from '../core/actions.ts'
import type { KnownTool } from '../core/tools.ts'
import { decideAssuming } from '../decide/decide.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { sampleFacts } from './sample-facts.ts'

export function getTypicalAction(policy: CompiledPolicy, tool: KnownTool): Action | 'depends' {
  const { rules, doubted } = getRulesForTool(policy, tool)
  if ([...rules, ...(doubted?.rules ?? [])].some(({ program }) => program !== undefined))
    return 'depends'
  const { server, name } = tool.definition
  const call = { server, name, method: TOOL_CALL, args: {} }
  return decideAssuming(policy, call, sampleFacts(tool), new Map()).action
}
