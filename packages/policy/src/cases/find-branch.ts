// Searches the branches of everything that applies to one call for one that ends in a given action,
// with every result of every condition considered possible that is not known to be impossible.

import type { Action } from '../calls/actions.ts'
import type { Call, Facts } from '../calls/call.ts'
import type { KnownTool } from '../calls/tools.ts'
import { decideAssuming } from '../decide/decide.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import type { BoundExpression } from '../expression/evaluate/bind-expression.ts'
import { readDeclaredArguments } from '../expression/evaluate/declared-types.ts'
import type { ConditionResult } from '../expression/evaluate/evaluate.ts'
import type { ExpressionVariable } from '../expression/expression-variables.ts'
import { PROVE_BRANCHES_MAX } from '../language/limits.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { type ApplicableRules, listPreparedRules } from '../model/applicable-rules.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { listAssignments } from './claim-regions.ts'
import {
  CAN_BE_TRUE,
  CAN_FAIL,
  type KnownPart,
  listPossibleResults,
  toConditionResults,
} from './possible-results.ts'
import { type Claim, isBroken } from './properties.ts'
import { sampleFacts } from './sample-facts.ts'

/** What is called, for any caller and any arguments. */
export interface ProofSubject {
  readonly policy: CompiledPolicy
  readonly call: Call
  readonly facts: Facts
  /** Everything of the policy that applies to the call. */
  readonly scope: ApplicableRules
}

/** The calls of a tool as the subject of a proof. */
export function toSubject(policy: CompiledPolicy, tool: KnownTool): ProofSubject {
  const { server, name } = tool.definition
  return {
    policy,
    call: { server, name, method: TOOL_CALL, args: {} },
    facts: sampleFacts(tool),
    scope: getRulesForTool(policy, tool),
  }
}

/** The first branch that ends in an action for which `isWanted`, as text. */
export function findBranch(
  subject: ProofSubject,
  isWanted: (action: Action) => boolean,
  { known = () => undefined, isSettled = () => false }: KnownFacts,
): string | undefined {
  const { policy, call, facts, scope } = subject
  const conditional = listPreparedRules(scope).flatMap(({ pointer, program }) =>
    program === undefined
      ? []
      : [{ pointer, program, results: resultsOf(program, { known, isSettled }) }],
  )
  const combinations = conditional.reduce((product, { results }) => product * results.length, 1)
  if (combinations > PROVE_BRANCHES_MAX)
    return `${combinations} combinations of ${conditional.length} conditions, more than ${PROVE_BRANCHES_MAX}`
  const amounts = isWanted('deny') && readsAmounts(scope)
  for (let combination = 0; combination < combinations; combination++) {
    let rest = combination
    const chosen = conditional.map(({ pointer, program, results }) => {
      const result = results[rest % results.length] as ConditionResult
      rest = Math.floor(rest / results.length)
      return { pointer, program, result }
    })
    const assumed = new Map(chosen.map(({ program, result }) => [program, result]))
    const { action } = decideAssuming(policy, call, facts, assumed, { scope })
    if (isWanted(action)) return describeBranch(chosen, action)
    if (amounts && action !== 'deny' && action !== 'hide')
      return 'an amount or `per: args` that cannot be read, which is a denial'
  }
  return undefined
}

/** What a search takes as known. */
interface KnownFacts {
  readonly known?: KnownPart
  /** Whether a variable has a value that cannot make a condition undecidable. */
  readonly isSettled?: (variable: ExpressionVariable) => boolean
}

/** The same, over the calls that the claim is about. */
export function findBranchOfClaim(
  subject: ProofSubject,
  claim: Claim,
  known: KnownPart = () => undefined,
): string | undefined {
  const { when, kind } = claim
  const isWanted = isBroken(claim)
  if (when === undefined) return findBranch(subject, isWanted, { known })
  const others = listPreparedRules(subject.scope).flatMap(({ rule }) => rule.when?.expression ?? [])
  const declared = readDeclaredArguments(subject.facts.tool?.definition.inputSchema)
  let assignments = 0
  for (const { known: assigned, hasValue } of listAssignments(when, others, declared)) {
    if (++assignments > PROVE_BRANCHES_MAX)
      return `more than ${PROVE_BRANCHES_MAX} combinations of values that the claim's \`when\` tells apart`
    const both: KnownPart = (node, expression) =>
      known(node, expression) ?? assigned(node, expression)
    if ((listPossibleResults(when, both) & CAN_BE_TRUE) === 0) continue
    // `always` is about calls without undeclared arguments, which would settle nothing.
    const isSettled = ({ root, path }: ExpressionVariable) =>
      kind === 'always' && root === 'args' && hasValue(path)
    const branch = findBranch(subject, isWanted, { known: both, isSettled })
    if (branch !== undefined) return branch
  }
  return undefined
}

function resultsOf(
  { expression }: BoundExpression,
  { known, isSettled }: Required<KnownFacts>,
): ConditionResult[] {
  const isLabel = ({ root, path }: ExpressionVariable) => root === 'session' && path[0] === 'saw'
  const settled = expression.variables.every((variable) => isLabel(variable) || isSettled(variable))
  return toConditionResults(listPossibleResults(expression, known) | (settled ? 0 : CAN_FAIL))
}

function readsAmounts(scope: ApplicableRules): boolean {
  return listPreparedRules(scope).some(({ rule }) =>
    rule.limits.some(
      (limit) => limit.amount !== undefined || limit.per.some((part) => part.by === 'args'),
    ),
  )
}

function describeBranch(
  chosen: readonly { readonly pointer: string; readonly result: ConditionResult }[],
  action: Action,
): string {
  const conditions = chosen.map(({ pointer, result }) => `${pointer} ${result.is}`)
  return `${conditions.join(', ') || 'no condition'} gives ${action}`
}
