// Checks a property over every known tool and every branch of every rule: with all branches
// considered possible, can it be violated? If not, it is proved. If so, a concrete call that
// violates it is searched for: if one is found, the property is refuted and the call shown,
// otherwise the branch is named. Limits are assumed not to be reached.

import type { Action } from '../core/actions.ts'
import type { Call } from '../core/call.ts'
import type { LimitUsage } from '../core/counters.ts'
import { compareDecimal } from '../core/decimal.ts'
import type { KnownTool } from '../core/tools.ts'
import { decide, decideAssuming } from '../decide/decide.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import type { BoundExpression } from '../expression/evaluate/bind-expression.ts'
import type { ConditionResult } from '../expression/evaluate/evaluate.ts'
import { globMatches, wildcardMatches } from '../language/glob.ts'
import { PROVE_BRANCHES_MAX, PROVE_TRIES_MAX } from '../language/limits.ts'
import { TOOL_CALL } from '../language/methods.ts'
import {
  type ApplicableRules,
  listPreparedRules,
  type PreparedRule,
} from '../model/applicable-rules.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import type { Property } from './properties.ts'
import { type SampleCall, samples } from './sample-calls.ts'
import { sampleFacts } from './sample-facts.ts'

export type ToolProof =
  | { readonly tool: string; readonly result: 'proved' }
  | {
      readonly tool: string
      readonly result: 'refuted'
      readonly action: Action
      readonly rule: string
      readonly sample: SampleCall
    }
  | { readonly tool: string; readonly result: 'not proved'; readonly branch: string }

export interface PropertyProof {
  readonly property: Property
  /** The worst of its tools. */
  readonly result: 'proved' | 'refuted' | 'not proved'
  readonly tools: readonly ToolProof[]
}

export function prove(
  policy: CompiledPolicy,
  property: Property,
  tools: readonly KnownTool[],
): PropertyProof {
  const proofs = tools
    .filter((tool) => appliesTo(policy, property, tool))
    .map((tool) => proveTool(policy, property, tool))
  const result = proofs.some((proof) => proof.result === 'refuted')
    ? 'refuted'
    : proofs.some((proof) => proof.result === 'not proved')
      ? 'not proved'
      : 'proved'
  return { property, result, tools: proofs }
}

function appliesTo(policy: CompiledPolicy, property: Property, tool: KnownTool): boolean {
  const { server, name } = tool.definition
  const { category, classified } = getRulesForTool(policy, tool)
  // A guess counts as any category and any risk, unless the document classifies the tool.
  const open = tool.unknown === true && !classified
  if (property.categories && !open && !property.categories.includes(category)) return false
  if (property.risks && !open && !property.risks.includes(tool.risk)) return false
  if (property.servers && !property.servers.some((pattern) => wildcardMatches(pattern, server)))
    return false
  return (
    property.tools === undefined || property.tools.some((glob) => globMatches(glob, server, name))
  )
}

function breaks(property: Property, action: Action): boolean {
  return property.kind === 'never'
    ? property.actions.includes(action)
    : !property.actions.includes(action)
}

function proveTool(policy: CompiledPolicy, property: Property, tool: KnownTool): ToolProof {
  const { server, name } = tool.definition
  const id = `${server}/${name}`
  const scope = getRulesForTool(policy, tool)
  const branch = breakingBranch(policy, property, tool, scope)
  if (branch === undefined) return { tool: id, result: 'proved' }
  let tries = 0
  for (const sample of samples(tool, scope)) {
    if (++tries > PROVE_TRIES_MAX) break
    const call: Call = { server, name, method: TOOL_CALL, args: sample.args }
    const now = { wallMs: sample.nowMs, monotonicMs: 0 }
    const { action, rule } = decide(policy, call, sampleFacts(tool, sample.facts), UNUSED, now)
    if (breaks(property, action)) return { tool: id, result: 'refuted', action, rule, sample }
  }
  return { tool: id, result: 'not proved', branch }
}

/** No earlier calls. A call that alone exceeds `max` still does not pass. */
const UNUSED: LimitUsage = {
  look: ({ amount, max }) => ({
    passes: compareDecimal(amount, max) <= 0,
    remaining: max,
    retryAfterMs: Number.POSITIVE_INFINITY,
  }),
}

/** The first combination of outcomes that violates the property, as text. */
function breakingBranch(
  policy: CompiledPolicy,
  property: Property,
  tool: KnownTool,
  scope: ApplicableRules,
): string | undefined {
  const conditional = listPreparedRules(scope).filter((ready) => ready.program !== undefined)
  const combinations = 2 ** conditional.length
  if (combinations > PROVE_BRANCHES_MAX)
    return `${combinations} combinations of ${conditional.length} conditions, more than ${PROVE_BRANCHES_MAX}`
  const call: Call = {
    server: tool.definition.server,
    name: tool.definition.name,
    method: TOOL_CALL,
    args: {},
  }
  const facts = sampleFacts(tool)
  for (let combination = 0; combination < combinations; combination++) {
    const outcome = (index: number) => ((combination >> index) & 1) === 0
    const assumed = new Map(
      conditional.map((ready, index) => [
        ready.program as BoundExpression,
        (outcome(index) ? TRUE : FALSE) as ConditionResult,
      ]),
    )
    const { action } = decideAssuming(policy, call, facts, assumed)
    if (breaks(property, action)) return describeBranch(conditional, outcome, action)
    if (action !== 'deny' && action !== 'hide' && breaks(property, 'deny') && readsAmounts(scope))
      return 'an amount or `per: args` that cannot be read, which is a denial'
  }
  return undefined
}

const TRUE: ConditionResult = { is: 'true' }
const FALSE: ConditionResult = { is: 'false' }

function readsAmounts(scope: ApplicableRules): boolean {
  return listPreparedRules(scope).some(({ rule }) =>
    rule.limits.some(
      (limit) => limit.amount !== undefined || limit.per.some((part) => part.by === 'args'),
    ),
  )
}

function describeBranch(
  conditional: readonly PreparedRule<Rule | Guardrail>[],
  outcome: (index: number) => boolean,
  action: Action,
): string {
  const conditions = conditional.map((ready, index) => `${ready.pointer} ${outcome(index)}`)
  return `${conditions.join(', ') || 'no condition'} gives ${action}`
}
