// Searches for a concrete call that the engine decides in a given way: boundary values of everything
// the rules read, in a fixed order, until the tries are used up.

import type { Action } from '../calls/actions.ts'
import type { Call } from '../calls/call.ts'
import type { LimitUsage } from '../calls/counters.ts'
import type { KnownTool } from '../calls/tools.ts'
import { decide } from '../decide/decide.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import { type BoundExpression, bindExpression } from '../expression/evaluate/bind-expression.ts'
import { readDeclaredArguments } from '../expression/evaluate/declared-types.ts'
import { evaluate } from '../expression/evaluate/evaluate.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { compareDecimal } from '../values/decimal.ts'
import type { Claim } from './properties.ts'
import { type FixedFacts, type SampleCall, samples } from './sample-calls.ts'
import { sampleFacts } from './sample-facts.ts'

export interface FoundCall {
  readonly action: Action
  readonly rule: string
  readonly sample: SampleCall
}

export interface CallSearch {
  readonly isWanted: (action: Action) => boolean
  /** Its `when` must be true of the call. */
  readonly claim?: Claim
  /** Caller and labels, if they are not to vary. */
  readonly fixed?: FixedFacts
  /** Shared by searches; each try deducts one. */
  readonly tries: { left: number }
}

export function findCall(
  policy: CompiledPolicy,
  tool: KnownTool,
  { isWanted, claim, fixed, tries }: CallSearch,
): FoundCall | undefined {
  const { server, name } = tool.definition
  const scope = getRulesForTool(policy, tool)
  const program = claim && bindClaim(claim, tool)
  if (claim?.when !== undefined && program === undefined) return undefined
  const dimensions = {
    ...(program ? { also: program.expression } : {}),
    ...(fixed ? { fixed } : {}),
  }
  for (const sample of samples(tool, scope, dimensions)) {
    if (--tries.left < 0) return undefined
    const call: Call = { server, name, method: TOOL_CALL, args: sample.args }
    const now = { wallMs: sample.nowMs, monotonicMs: 0 }
    const facts = sampleFacts(tool, sample.facts)
    if (program !== undefined) {
      const { args } = sample
      const situation = { call, facts, now, args, category: scope.category, assumed: undefined }
      if (evaluate(program, situation).is !== 'true') continue
    }
    const { action, rule } = decide(policy, call, facts, UNUSED_LIMITS, now)
    if (isWanted(action)) return { action, rule, sample }
  }
  return undefined
}

/** A claim's condition for one tool; undefined if it does not fit the tool's arguments. */
export function bindClaim({ when, kind }: Claim, tool: KnownTool): BoundExpression | undefined {
  if (when === undefined) return undefined
  const declared = readDeclaredArguments(tool.definition.inputSchema)
  // An undeclared argument does not take a call out of what must never happen.
  const { program, problem } = bindExpression(when, declared, { extraArgs: kind === 'never' })
  return problem === undefined ? program : undefined
}

/** No earlier calls. A call that alone exceeds `max` still does not pass. */
export const UNUSED_LIMITS: LimitUsage = {
  look: ({ amount, max }) => ({
    passes: compareDecimal(amount, max) <= 0,
    remaining: max,
    retryAfterMs: Number.POSITIVE_INFINITY,
  }),
}
