// Combines rules and guardrails until one action is left: steps 1 to 3 of "How a call is decided".
// Keeps what was combined: whose limits apply, who requires approval, and, on request, the trace.

import { type Action, isStronger, pickStronger } from '../calls/actions.ts'
import type { ApprovalRequirement, GuardrailMatch } from '../calls/decision.ts'
import {
  type ConditionResult,
  type EvaluationContext,
  evaluate,
} from '../expression/evaluate/evaluate.ts'
import { findProtection, PROTECTIONS } from '../expression/evaluate/protection.ts'
import type { ApplicableRules, PreparedRule } from '../model/applicable-rules.ts'
import { DEFAULT_SAYS, toCanonicalRuleText } from '../model/canonical-rule.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { Guardrail, Rule } from '../model/rule.ts'
import { APPROVAL_DEFAULT } from '../model/rule.ts'
import { findEgressDenial } from './egress.ts'
import { OWN_FILES, objectToFiles } from './protected-files.ts'
import type { TraceStep } from './trace.ts'

/** A decision under construction. */
export interface DecisionDraft {
  action: Action
  /** The first rule or guardrail that has the strongest action. */
  pointer: string
  reason: string
  /** The reason says which call to make first. */
  isAdvice: boolean
  /** The rules and guardrails whose limits apply to the call. */
  limitRules: readonly PreparedRule<Rule | Guardrail>[]
  readonly asking: ApprovalRequirement[]
  readonly guardrails: GuardrailMatch[]
}

export function startDraft(action: Action, pointer: string, reason = ''): DecisionDraft {
  return { action, pointer, reason, isAdvice: false, limitRules: [], asking: [], guardrails: [] }
}

const DEFAULT_ASK: ApprovalRequirement = {
  rule: '/default',
  reason: '',
  ...APPROVAL_DEFAULT,
  says: DEFAULT_SAYS,
}

export function combineRules(
  policy: CompiledPolicy,
  { rules }: ApplicableRules,
  situation: EvaluationContext,
  trace: TraceStep[] | undefined,
): DecisionDraft {
  const [first] = rules
  if (first === undefined) {
    trace?.push({ step: 'default', action: policy.fallback })
    const draft = startDraft(policy.fallback, '/default', 'no rule of the policy matches it')
    if (policy.fallback === 'require_approval') draft.asking.push(DEFAULT_ASK)
    return draft
  }
  const draft = startDraft('allow', first.pointer)
  draft.limitRules = rules
  for (const ready of rules) {
    const truth = evaluateCondition(ready, situation)
    const action = pickAction(ready.rule, truth)
    trace?.push({ step: 'rule', rule: ready.pointer, ...traceWhen(ready, truth), action })
    applyRule(draft, ready, action, { truth, situation }, ready === first)
  }
  return draft
}

export function applyGuardrails(
  draft: DecisionDraft,
  guardrails: readonly PreparedRule<Guardrail>[],
  situation: EvaluationContext,
  trace: TraceStep[] | undefined,
): void {
  for (const ready of guardrails) {
    const { name, action } = ready.rule
    const truth = evaluateCondition(ready, situation)
    const isMatched = applies(truth)
    const rule = ready.pointer
    trace?.push({
      step: 'guardrail',
      name,
      rule,
      ...traceWhen(ready, truth),
      matched: isMatched,
      ...(action ? { action } : {}),
    })
    if (!isMatched) continue
    const undecided = truth.is === 'undecidable'
    draft.guardrails.push(action ? { name, rule, action, undecided } : { name, rule, undecided })
    draft.limitRules = [...draft.limitRules, ready]
    if (action !== undefined) applyRule(draft, ready, action, { truth, situation }, false)
  }
}

/** Denies a call that names one of the gate's own files; no policy can allow it. */
export function applyProtectedFiles(
  draft: DecisionDraft,
  { call, facts, args }: EvaluationContext,
  trace: TraceStep[] | undefined,
): void {
  const { ownPaths } = facts
  if (ownPaths === undefined) return
  const objection = objectToFiles(call.name, ownPaths) ?? objectToFiles(args, ownPaths)
  if (objection === undefined) return
  deny(draft, { name: OWN_FILES, rule: 'built-in', reason: objection }, trace)
}

/** Applies the lists of hosts under `egress`. A list of tools is made without arguments, and so without them. */
export function applyEgress(
  draft: DecisionDraft,
  policy: CompiledPolicy | undefined,
  { call, args }: EvaluationContext,
  trace: TraceStep[] | undefined,
): void {
  if (policy === undefined || policy.egress.size === 0 || args === undefined) return
  const denial = findEgressDenial(policy, call)
  if (denial === undefined) return
  deny(draft, { name: 'egress', rule: denial.pointer, reason: denial.reason }, trace)
}

/** Denies by a guardrail that has no condition of its own. */
function deny(
  draft: DecisionDraft,
  { name, rule, reason }: { readonly name: string; readonly rule: string; readonly reason: string },
  trace: TraceStep[] | undefined,
): void {
  draft.guardrails.push({ name, rule, action: 'deny', undecided: false })
  trace?.push({ step: 'guardrail', name, rule, matched: true, action: 'deny' })
  if (!isStronger('deny', draft.action)) return
  draft.action = 'deny'
  draft.pointer = rule
  draft.reason = reason
  draft.isAdvice = false
}

/** Evaluates a rule or guardrail as if it were the only one; undefined if it does not apply. */
export function evaluateAlone(
  ready: PreparedRule<Rule | Guardrail>,
  situation: EvaluationContext,
): DecisionDraft | undefined {
  const { rule } = ready
  const truth = evaluateCondition(ready, situation)
  if (!('key' in rule) && !applies(truth)) return undefined
  const action = 'key' in rule ? pickAction(rule, truth) : (rule.action ?? 'allow')
  const draft = startDraft(action, ready.pointer)
  draft.limitRules = [ready]
  applyRule(draft, ready, action, { truth, situation }, true)
  return draft
}

function applyRule(
  draft: DecisionDraft,
  ready: PreparedRule<Rule | Guardrail>,
  action: Action,
  condition: EvaluatedCondition,
  first: boolean,
): void {
  const reason = describeProtection(ready.rule, condition)
  if (action === 'require_approval') draft.asking.push(ask(ready, reason, condition.truth))
  if (!first && !isStronger(action, draft.action)) return
  draft.action = action
  draft.pointer = ready.pointer
  draft.reason = reason === '' ? getReason(ready.rule, condition.truth) : reason
  draft.isAdvice = reason === '' && isAdvice(condition.truth)
}

/** While a list is built, a guardrail that reads arguments may still let the call pass. */
function applies(truth: ConditionResult): boolean {
  return truth.is === 'true' || truth.is === 'undecidable'
}

const TRUE: ConditionResult = { is: 'true' }

function evaluateCondition(
  ready: PreparedRule<Rule | Guardrail>,
  situation: EvaluationContext,
): ConditionResult {
  if (ready.unfit !== undefined) return { is: 'undecidable', why: ready.unfit }
  if (ready.program === undefined) return TRUE
  return situation.assumed?.get(ready.program) ?? evaluate(ready.program, situation)
}

function pickAction({ action, otherwise }: Rule, truth: ConditionResult): Action {
  switch (truth.is) {
    case 'true':
      return action
    case 'false':
      return otherwise
    case 'undecidable':
      return pickStronger(action, otherwise)
    default:
      return isStronger(action, otherwise) ? otherwise : action
  }
}

interface EvaluatedCondition {
  readonly truth: ConditionResult
  readonly situation: EvaluationContext
}

function isAdvice(truth: ConditionResult): truth is ConditionResult & { is: 'undecidable' } {
  return truth.is === 'undecidable' && truth.isAdvice === true
}

function getReason({ reason }: Rule | Guardrail, truth: ConditionResult): string {
  // What the caller can do about it is said beside the rule's own reason.
  if (isAdvice(truth)) return reason === '' ? truth.why : `${reason}; ${truth.why}`
  if (reason !== '') return reason
  if (truth.is === 'undecidable') return `its condition cannot be decided: ${truth.why}`
  return truth.is === 'false' ? 'its condition does not hold' : ''
}

/** Describes what a condition on origins found in the call, if the rule itself gives no reason. */
function describeProtection(
  { when, reason }: Rule | Guardrail,
  { truth, situation }: EvaluatedCondition,
): string {
  if (reason !== '' || truth.is !== 'true' || situation.assumed !== undefined) return ''
  for (const { root, path } of when?.expression.variables ?? []) {
    const name = PROTECTIONS.find((one) => root === 'call' && one === path[0])
    const finding = name && findProtection(name, situation)
    if (finding !== undefined) return finding.reason
  }
  return ''
}

function ask(
  { rule, pointer }: PreparedRule<Rule | Guardrail>,
  protection: string,
  truth: ConditionResult,
): ApprovalRequirement {
  // That a condition does not hold is left to the values of the call.
  const own = truth.is === 'undecidable' ? getReason(rule, truth) : rule.reason
  const reason = protection === '' ? own : protection
  return { rule: pointer, reason, ...rule.approval, says: toCanonicalRuleText(rule) }
}

function traceWhen({ rule }: PreparedRule<Rule | Guardrail>, truth: ConditionResult) {
  if (rule.when === undefined) return {}
  const why = truth.is === 'undecidable' ? { why: truth.why } : {}
  return { when: rule.when.expression.text, result: truth.is, ...why }
}
