// The decision on one call. Pure and total: no I/O, no clock, never throws; a fault is a denial.
// The order of steps is docs/policy-language.md, "How a call is decided"; `visible` is the same
// code with arguments unknown, so a list and a call cannot disagree.

import type { Action } from '../core/actions.ts'
import type { Call, Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import type { Usage } from '../core/counters.ts'
import type { Decision, ShadowVerdict } from '../core/decision.ts'
import type { Situation } from '../expression/evaluate/evaluate.ts'
import type { Scope } from '../model/applicable-rules.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { type Settled, settle } from './apply-limits.ts'
import { layAlone, layGuardrails, layOwnFiles, layPlain, layRules } from './combine-rules.ts'
import { type Resolved, resolve } from './resolve.ts'
import { stricterOf } from './stricter.ts'
import type { TraceStep } from './trace.ts'
import { COMPLETION, RESOURCE_METHODS, readsUris, weighCompletion, weighUri } from './weigh-uri.ts'

export function decide(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  usage: Usage,
  now: Instant,
  trace?: TraceStep[],
): Decision {
  try {
    return weigh(policy, { call, facts, now, args: call.args, assumed: undefined }, usage, trace)
  } catch (error) {
    return plainDecision('deny', 'POLICY_FAULT', `the policy engine failed: ${faultText(error)}`)
  }
}

/** Anything can be thrown, and reading what was thrown can throw again. */
function faultText(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return 'for a reason that cannot be told'
  }
}

/** What a list shows: the decision without arguments. A fault hides. */
export function visible(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): boolean {
  const { action, rule } = foresee(policy, target, facts, now)
  return action !== 'hide' && !(action === 'deny' && rule === '/default')
}

/** What is answered as if no server had it, whatever its arguments. */
export function hidden(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): boolean {
  return foresee(policy, target, facts, now).action === 'hide'
}

function foresee(
  policy: CompiledPolicy,
  target: Omit<Call, 'args'>,
  facts: Facts,
  now: Instant,
): Pick<Decision, 'action' | 'rule'> {
  const call = { ...target, args: {} }
  try {
    const asked = { call, facts, now, args: undefined, assumed: undefined }
    return weigh(policy, asked, undefined, undefined)
  } catch {
    return { action: 'hide', rule: '' }
  }
}

/** The word that would be reached if every condition came out as `assumed` says; limits unmet, or as
 * `past` has them. `scope` is the one whose programs are assumed, where it is not that of a tool. */
export function decideAssuming(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  assumed: NonNullable<Situation['assumed']>,
  past: { readonly usage?: Usage; readonly now?: Instant; readonly scope?: Scope } = {},
): Decision {
  const { usage, now = { wallMs: 0, monotonicMs: 0 }, scope } = past
  return weighOne(policy, { call, facts, now, args: call.args, assumed }, usage, undefined, scope)
}

function weigh(
  policy: CompiledPolicy,
  asked: Omit<Situation, 'category'>,
  usage: Usage | undefined,
  trace: TraceStep[] | undefined,
): Decision {
  const { method } = asked.call
  if (RESOURCE_METHODS.has(method) && readsUris(policy))
    return weighUri(policy, asked, (each, steps) => weighOne(policy, each, usage, steps), trace)
  const decision = weighOne(policy, asked, usage, trace)
  if (method !== COMPLETION) return decision
  return weighCompletion(asked, decision, (target) => weigh(policy, target, undefined, undefined))
}

/** The call as it stands. */
function weighOne(
  policy: CompiledPolicy,
  asked: Omit<Situation, 'category'>,
  usage: Usage | undefined,
  trace: TraceStep[] | undefined,
  given?: Scope,
): Decision {
  const { call, facts } = asked
  const scope = given ?? resolve(policy, call, facts)
  if (typeof scope === 'string') return outsideRules(scope, call)
  const decision = weighScope(policy, scope, asked, usage, trace)
  if (scope.doubted === undefined) return decision
  const doubted = weighScope(policy, scope.doubted, asked, usage, undefined)
  const { category } = scope.doubted
  const { action, rule } = doubted
  trace?.push({ step: 'unknown', category, action, rule })
  return stricterOf(decision, doubted, policy.shadow)
}

/** The call as one of a class. */
function weighScope(
  policy: CompiledPolicy,
  scope: Scope,
  asked: Omit<Situation, 'category'>,
  usage: Usage | undefined,
  trace: TraceStep[] | undefined,
): Decision {
  const { facts } = asked
  const situation: Situation = { ...asked, category: scope.category }
  if (trace !== undefined) traceScope(scope, facts, trace)

  let laid = layRules(policy, scope, situation, trace)
  layGuardrails(laid, scope.guardrails, situation, trace)
  const shadow = weighShadow(scope, situation, usage)
  if (policy.shadow) {
    shadow.push(asShadow(settle(laid, situation, usage, trace, true)))
    laid = layPlain('allow', '/mode')
  }
  layGuardrails(laid, scope.house, situation, trace)
  layOwnFiles(laid, situation, trace)

  const settled = settle(laid, situation, usage, trace, false)
  if (trace !== undefined) traceVerdict(settled, shadow, trace)
  return { ...settled, guardrails: laid.guardrails, shadow }
}

/** Each rule in shadow on its own, with counters of its own. */
function weighShadow(
  scope: Scope,
  situation: Situation,
  usage: Usage | undefined,
): ShadowVerdict[] {
  const verdicts: ShadowVerdict[] = []
  for (const ready of scope.shadow) {
    const laid = layAlone(ready, situation)
    if (laid !== undefined) verdicts.push(asShadow(settle(laid, situation, usage, undefined, true)))
  }
  return verdicts
}

function asShadow({ rule, action, code, reason, limits }: Settled): ShadowVerdict {
  return { rule, action, code, reason, limits }
}

function traceScope(scope: Scope, facts: Facts, trace: TraceStep[]): void {
  const fromCatalogue = facts.tool === undefined ? 'method' : 'catalogue'
  const by = scope.classified ? 'document' : fromCatalogue
  trace.push({ step: 'category', category: scope.category, by })
  for (const { pointer, why } of scope.aside) trace.push({ step: 'aside', rule: pointer, why })
}

function traceVerdict(
  settled: Settled,
  shadow: readonly ShadowVerdict[],
  trace: TraceStep[],
): void {
  for (const { rule, action, code } of shadow) trace.push({ step: 'shadow', rule, action, code })
  const { action, code, rule, reason } = settled
  trace.push({ step: 'verdict', action, code, rule, reason })
}

function outsideRules(scope: Resolved, call: Call): Decision {
  if (scope === 'plumbing') return plainDecision('allow', 'ALLOWED', '')
  if (scope === 'unknown-tool')
    return plainDecision('hide', 'DENIED', `no server has \`${call.server}/${call.name}\``)
  return plainDecision('deny', 'DENIED', `\`${call.method}\` is not a method the gate knows`)
}

function plainDecision(action: Action, code: Decision['code'], reason: string): Decision {
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
