// What happens to a typical call of a tool, for overviews: no limit reached, a new session, an
// ordinary caller. If a condition on its arguments decides, the result is that it depends.

import type { Action } from '../calls/actions.ts'
import type { KnownTool } from '../calls/tools.ts'
import { decideAssuming } from '../decide/decide.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import type { BoundExpression } from '../expression/evaluate/bind-expression.ts'
import { evaluate } from '../expression/evaluate/evaluate.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { sampleFacts } from './sample-facts.ts'

export function getTypicalAction(policy: CompiledPolicy, tool: KnownTool): Action | 'depends' {
  const { rules, doubted } = getRulesForTool(policy, tool)
  if ([...rules, ...(doubted?.rules ?? [])].some(({ program }) => program !== undefined))
    return 'depends'
  const { server, name } = tool.definition
  const call = { server, name, method: TOOL_CALL, args: {} }
  const facts = sampleFacts(tool)
  const strictest = decideAssuming(policy, call, facts, new Map()).action
  const open = findUndecidable(policy, tool)
  if (open.length === 0) return strictest
  const assumed = new Map(open.map((program) => [program, { is: 'false' as const }]))
  const calmest = decideAssuming(policy, call, facts, assumed).action
  return calmest === strictest ? strictest : 'depends'
}

/** The conditions of guardrails that read what this call does not have: arguments, mostly. */
function findUndecidable(policy: CompiledPolicy, tool: KnownTool): BoundExpression[] {
  const scope = getRulesForTool(policy, tool)
  const { server, name } = tool.definition
  const call = { server, name, method: TOOL_CALL, args: {} }
  const context = { call, facts: sampleFacts(tool), now: START, args: {}, assumed: undefined }
  return [scope, ...(scope.doubted ? [scope.doubted] : [])].flatMap(
    ({ guardrails, base, category }) =>
      [...guardrails, ...base].flatMap(({ program }) => {
        if (program === undefined) return []
        return evaluate(program, { ...context, category }).is === 'undecidable' ? [program] : []
      }),
  )
}

const START = { wallMs: 0, monotonicMs: 0 }
