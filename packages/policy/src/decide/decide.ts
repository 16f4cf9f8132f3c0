// The decision on one call. Pure and total: no I/O, no clock, never throws; a fault is a denial.
// The order of steps is docs/reference/policy-language.md, "How a call is decided". `isVisible`
// runs the same code with arguments unknown, so that a list and a call cannot disagree.

import type { Action } from '../calls/actions.ts'
import type { Call, Facts } from '../calls/call.ts'
import type { Instant } from '../calls/clock.ts'
import type { LimitUsage } from '../calls/counters.ts'
import type { Decision, ShadowDecision } from '../calls/decision.ts'
import type { EvaluationContext } from '../expression/evaluate/evaluate.ts'
import type { ApplicableRules } from '../model/applicable-rules.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { applyLimits, type LimitedDecision } from './apply-limits.ts'
import {
  applyEgress,
  applyGuardrails,
  applyProtectedFiles,
  combineRules,
  evaluateAlone,
  startDraft,
} from './combine-rules.ts'
import {
  COMPLETION,
  decideCompletion,
  decideUri,
  RESOURCE_METHODS,
  readsUris,
} from './decide-uri.ts'
import { getRulesForCall, type ResolvedRules, resolveRules } from './resolve.ts'
import { pickStricter } from './stricter.ts'
import type { TraceStep } from './trace.ts'

/**
 * Decides one call. Charges nothing: the caller consumes `limits` of the decision.
 * `evaluate` does both, with defaults.
 *
 * @example
 * ```ts
 * const decision = decide(policy, call, facts, counters, now)
 * if (decision.action === 'allow') counters.consume(decision.limits, now)
 * ```
 */
export function decide(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  usage: LimitUsage,
  now: Instant,
  trace?: TraceStep[],
): Decision {
  try {
    return decideContext(
      policy,
      { call, facts, now, args: call.args, assumed: undefined },
      usage,
      trace,
    )
  } catch (error) {
    return plainDecision('deny', 'POLICY_FAULT', `the policy engine failed: ${faultText(error)}`)
  }
}

/** Describes what was thrown. It can be anything, and reading it can throw again. */
function faultText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'for an unknown reason'
  }
}

/**
 * Whether a list shows the target: the decision without arguments. A fault hides.
 *
 * @example
 * ```ts
 * isVisible(policy, { server: 'shop', method: 'tools/call', name: 'list_orders' }, facts, now)
 * ```
 */
export function isVisible(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): boolean {
  const { action, rule } = foresee(policy, target, facts, now)
  return action !== 'hide' && !(action === 'deny' && rule === '/default')
}

/** Whether a call is answered as if no server had the name, for any arguments. */
export function isHidden(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): boolean {
  return foreseeAction(policy, target, facts, now) === 'hide'
}

/**
 * The action that the target may reach at best, before its arguments are known. A fault hides.
 *
 * @example
 * ```ts
 * foreseeAction(policy, { server: 'shop', method: 'tools/call', name: 'list_orders' }, facts, now)
 * ```
 */
export function foreseeAction(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): Action {
  return foresee(policy, target, facts, now).action
}

function foresee(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): Pick<Decision, 'action' | 'rule'> {
  const call = { ...target, args: {} }
  try {
    const context = { call, facts, now, args: undefined, assumed: undefined }
    return decideContext(policy, context, undefined, undefined)
  } catch {
    return { action: 'hide', rule: '' }
  }
}

/**
 * The action if every condition evaluated as in `assumed`; with no limit reached, or as `past` has
 * them. `scope` is the one whose programs are assumed, if it is not that of a tool.
 */
export function decideAssuming(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  assumed: NonNullable<EvaluationContext['assumed']>,
  past: {
    readonly usage?: LimitUsage
    readonly now?: Instant
    readonly scope?: ApplicableRules
  } = {},
): Decision {
  const { usage, now = { wallMs: 0, monotonicMs: 0 }, scope } = past
  return decideOne(policy, { call, facts, now, args: call.args, assumed }, usage, undefined, scope)
}

function decideContext(
  policy: CompiledPolicy,
  context: Omit<EvaluationContext, 'category'>,
  usage: LimitUsage | undefined,
  trace: TraceStep[] | undefined,
): Decision {
  const { method } = context.call
  if (RESOURCE_METHODS.has(method) && readsUris(policy))
    return decideUri(policy, context, (each, steps) => decideOne(policy, each, usage, steps), trace)
  const decision = decideOne(policy, context, usage, trace)
  if (method !== COMPLETION) return decision
  return decideCompletion(context, decision, (target) =>
    decideContext(policy, target, undefined, undefined),
  )
}

/** Decides the call with its actual category. */
function decideOne(
  policy: CompiledPolicy,
  context: Omit<EvaluationContext, 'category'>,
  usage: LimitUsage | undefined,
  trace: TraceStep[] | undefined,
  rules?: ApplicableRules,
): Decision {
  const { call, facts } = context
  const scope = rules ?? resolveRules(policy, call, facts)
  if (typeof scope === 'string') return outsideRules(scope, call)
  const others = [
    ['unknown', scope.doubted],
    ['call', getRulesForCall(policy, facts, scope)],
  ] as const
  let decision = decideScope(policy, scope, context, usage, trace)
  for (const [step, other] of others) {
    if (other === undefined) continue
    const doubted = decideScope(policy, other, context, usage, undefined)
    const { action, rule } = doubted
    trace?.push({ step, category: other.category, action, rule })
    decision = pickStricter(decision, doubted, policy.shadow)
  }
  return decision
}

/** Decides the call with a given category. */
function decideScope(
  policy: CompiledPolicy,
  scope: ApplicableRules,
  context: Omit<EvaluationContext, 'category'>,
  usage: LimitUsage | undefined,
  trace: TraceStep[] | undefined,
): Decision {
  const { facts } = context
  const { category, flow, roles, baseFlow, baseRoles } = scope
  const situation: EvaluationContext = { ...context, category, flow, roles }
  if (trace !== undefined) traceScope(scope, facts, trace)

  let draft = combineRules(policy, scope, situation, trace)
  applyGuardrails(draft, scope.guardrails, situation, trace)
  applyEgress(draft, policy, situation, trace)
  const shadow = decideShadow(scope, situation, usage)
  if (policy.shadow) {
    shadow.push(asShadow(applyLimits(draft, situation, usage, trace, true)))
    draft = startDraft('allow', '/mode')
  }
  const isSame = flow === baseFlow && roles === baseRoles
  const ofBase = isSame ? situation : { ...situation, flow: baseFlow, roles: baseRoles }
  applyGuardrails(draft, scope.base, ofBase, trace)
  if (policy.base?.shadow !== true) applyEgress(draft, policy.base, situation, trace)
  applyProtectedFiles(draft, situation, trace)

  const settled = applyLimits(draft, situation, usage, trace, false)
  if (trace !== undefined) traceDecision(settled, shadow, trace)
  const { guardrails } = draft
  const decision = { ...settled, guardrails, shadow }
  return isQuiet(policy, decision) ? { ...decision, quiet: true } : decision
}

/** An approver or a rule lets it pass, nothing is in doubt, and nothing that only observes objects. */
function isQuiet(policy: CompiledPolicy, { action, rule, guardrails, shadow }: Decision): boolean {
  if (!policy.isQuiet || guardrails.some(({ undecided }) => undecided)) return false
  if (shadow.some((one) => one.action !== 'allow')) return false
  return action === 'require_approval' || (action === 'allow' && rule !== '/default')
}

/** Evaluates each shadow rule separately, with its own counters. */
function decideShadow(
  scope: ApplicableRules,
  situation: EvaluationContext,
  usage: LimitUsage | undefined,
): ShadowDecision[] {
  const decisions: ShadowDecision[] = []
  for (const ready of scope.shadow) {
    const draft = evaluateAlone(ready, situation)
    if (draft !== undefined)
      decisions.push(asShadow(applyLimits(draft, situation, usage, undefined, true)))
  }
  return decisions
}

function asShadow({ rule, action, code, reason, limits }: LimitedDecision): ShadowDecision {
  return { rule, action, code, reason, limits }
}

function traceScope(scope: ApplicableRules, facts: Facts, trace: TraceStep[]): void {
  const fromCatalogue = facts.tool === undefined ? 'method' : 'catalogue'
  const by = scope.classified ? 'document' : fromCatalogue
  trace.push({ step: 'category', category: scope.category, by })
  for (const { pointer, why } of scope.aside) trace.push({ step: 'aside', rule: pointer, why })
}

function traceDecision(
  settled: LimitedDecision,
  shadow: readonly ShadowDecision[],
  trace: TraceStep[],
): void {
  for (const { rule, action, code } of shadow) trace.push({ step: 'shadow', rule, action, code })
  const { action, code, rule, reason } = settled
  trace.push({ step: 'decision', action, code, rule, reason })
}

function outsideRules(scope: ResolvedRules, call: Call): Decision {
  if (scope === 'plumbing') return plainDecision('allow', 'ALLOWED', '')
  if (scope === 'unknown-tool')
    return plainDecision('hide', 'DENIED', `no server has \`${call.server}/${call.name}\``)
  return plainDecision('deny', 'DENIED', `\`${call.method}\` is not a method the gate knows`)
}

/** A decision that no rule made. */
export function plainDecision(action: Action, code: Decision['code'], reason: string): Decision {
  return {
    action,
    code,
    rule: '',
    reason,
    guardrails: [],
    limits: [],
    retryAfterMs: 0,
    approvals: [],
    shadow: [],
  }
}
