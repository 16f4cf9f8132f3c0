// The decision on one call. Pure and total: no I/O, no clock, never throws; a fault is a denial.
// The order of steps is docs/policy-language.md, "How a call is decided"; `visible` is the same
// code with arguments unknown, so a list and a call cannot disagree.

import { type Action, isStronger, stronger } from '../core/actions.ts'
import type { Call, Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import type { Usage } from '../core/counters.ts'
import type { ApprovalAsk, Decision, GuardrailMatch, ShadowVerdict } from '../core/decision.ts'
import type { JsonObject } from '../core/json.ts'
import { evaluate, type Situation, type Truth } from './evaluate.ts'
import { namesOwnFiles, OWN_FILES } from './own-files.ts'
import type { CompiledPolicy } from './policy.ts'
import { type Ready, type Resolved, resolve, type Scope } from './resolve.ts'
import type { Guardrail, Rule } from './rule.ts'
import { type Laid, type Settled, settle } from './settle.ts'
import type { TraceStep } from './trace.ts'

export function decide(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  usage: Usage,
  now: Instant,
  trace?: TraceStep[],
): Decision {
  try {
    return weigh(policy, call, facts, call.args, usage, now, trace)
  } catch (error) {
    return plainDecision('deny', 'POLICY_FAULT', '', `the policy engine failed: ${(error as Error).message}`)
  }
}

/** What a list shows: the decision without arguments. A fault hides. */
export function visible(policy: CompiledPolicy, call: Omit<Call, 'args'>, facts: Facts, now: Instant): boolean {
  try {
    const decision = weigh(policy, { ...call, args: {} }, facts, undefined, undefined, now, undefined)
    if (decision.action === 'hide') return false
    return !(decision.rule === '/default' && decision.action === 'deny')
  } catch {
    return false
  }
}

/** The word that would be reached if every condition came out as `assumed` says; limits unmet. */
export function decideAssuming(policy: CompiledPolicy, call: Call, facts: Facts, now: Instant, assumed: Situation['assumed']): Decision {
  return weigh(policy, call, facts, call.args, undefined, now, undefined, assumed)
}

function weigh(
  policy: CompiledPolicy,
  call: Call,
  facts: Facts,
  args: JsonObject | undefined,
  usage: Usage | undefined,
  now: Instant,
  trace: TraceStep[] | undefined,
  assumed?: Situation['assumed'],
): Decision {
  const scope = resolve(policy, call, facts)
  if (typeof scope === 'string') return outsideRules(scope, call)
  const situation: Situation = { call, facts, now, category: scope.category, args, assumed }
  if (trace !== undefined) traceScope(scope, facts, trace)

  const laid = layRules(policy, scope, situation, trace)
  const matches: GuardrailMatch[] = []
  layGuardrails(laid, scope.guardrails, situation, matches, trace)
  const shadow = weighShadow(scope, situation, usage)
  let final = laid
  if (policy.shadow) {
    shadow.push(asShadow(settle(laid, situation, usage, trace, true)))
    matches.length = 0
    final = { action: 'allow', pointer: '/mode', reason: '', owners: [], asking: [] }
  }
  layGuardrails(final, scope.house, situation, matches, trace)
  layOwnFiles(final, facts, args, matches, trace)

  const settled = settle(final, situation, usage, trace, false)
  if (trace !== undefined) {
    for (const verdict of shadow) trace.push({ step: 'shadow', rule: verdict.rule, action: verdict.action, code: verdict.code })
    trace.push({ step: 'verdict', action: settled.action, code: settled.code, rule: settled.rule, reason: settled.reason })
  }
  return { ...settled, guardrails: matches, shadow }
}

function layRules(policy: CompiledPolicy, scope: Scope, situation: Situation, trace: TraceStep[] | undefined): Laid {
  const { rules } = scope
  if (rules.length === 0) {
    trace?.push({ step: 'default', action: policy.fallback })
    return { action: policy.fallback, pointer: '/default', reason: 'nothing in the policy names it', owners: [], asking: [] }
  }
  const laid: Laid = { action: 'allow', pointer: (rules[0] as Ready<Rule>).pointer, reason: '', owners: rules, asking: [] }
  for (const ready of rules) {
    const truth = truthOf(ready, situation)
    const action = ruleWord(ready.rule, truth)
    trace?.push({ step: 'rule', rule: ready.pointer, ...traceWhen(ready, truth), action })
    if (action === 'require_approval') laid.asking.push(ask(ready))
    if (ready === rules[0] || isStronger(action, laid.action)) {
      laid.action = action
      laid.pointer = ready.pointer
      laid.reason = reasonOf(ready, truth)
    }
  }
  return laid
}

function layGuardrails(
  laid: Laid,
  guardrails: readonly Ready<Guardrail>[],
  situation: Situation,
  matches: GuardrailMatch[],
  trace: TraceStep[] | undefined,
): void {
  for (const ready of guardrails) {
    const { name, action } = ready.rule
    const truth = truthOf(ready, situation)
    // While a list is made, what reads arguments may still let the call pass.
    const lies = truth.is === 'true' || truth.is === 'undecidable'
    trace?.push({ step: 'guardrail', name, rule: ready.pointer, ...traceWhen(ready, truth), laid: lies, ...(action ? { action } : {}) })
    if (!lies) continue
    const undecided = truth.is === 'undecidable'
    const rule = ready.pointer
    matches.push(action ? { name, rule, action, undecided } : { name, rule, undecided })
    laid.owners = [...laid.owners, ready]
    if (action === undefined) continue
    if (action === 'require_approval') laid.asking.push(ask(ready))
    if (isStronger(action, laid.action)) {
      laid.action = action
      laid.pointer = ready.pointer
      laid.reason = reasonOf(ready, truth)
    }
  }
}

function layOwnFiles(laid: Laid, facts: Facts, args: JsonObject | undefined, matches: GuardrailMatch[], trace: TraceStep[] | undefined): void {
  if (facts.ownPaths === undefined || !namesOwnFiles(args, facts.ownPaths)) return
  matches.push({ name: OWN_FILES, rule: 'built-in', action: 'deny', undecided: false })
  trace?.push({ step: 'guardrail', name: OWN_FILES, rule: 'built-in', laid: true, action: 'deny' })
  if (!isStronger('deny', laid.action)) return
  laid.action = 'deny'
  laid.pointer = 'built-in'
  laid.reason = "an argument names the gate's own configuration, policy or data"
}

/** Each rule in shadow on its own, as if nothing else were there. */
function weighShadow(scope: Scope, situation: Situation, usage: Usage | undefined): ShadowVerdict[] {
  const verdicts: ShadowVerdict[] = []
  for (const ready of scope.shadow) {
    const truth = truthOf(ready, situation)
    const rule: Rule | Guardrail = ready.rule
    if (!('key' in rule) && truth.is !== 'true' && truth.is !== 'undecidable') continue
    const action = 'key' in rule ? ruleWord(rule, truth) : (rule.action ?? 'allow')
    const asking = action === 'require_approval' ? [ask(ready)] : []
    const laid: Laid = { action, pointer: ready.pointer, reason: reasonOf(ready, truth), owners: [ready], asking }
    verdicts.push(asShadow(settle(laid, situation, usage, undefined, true)))
  }
  return verdicts
}

function asShadow({ rule, action, code, reason, limits }: Settled): ShadowVerdict {
  return { rule, action, code, reason, limits }
}

const TRUE: Truth = { is: 'true' }

function truthOf(ready: Ready<Rule | Guardrail>, situation: Situation): Truth {
  if (ready.unfit !== undefined) return { is: 'undecidable', why: ready.unfit }
  if (ready.program === undefined) return TRUE
  return situation.assumed?.get(ready.program) ?? evaluate(ready.program, situation)
}

function ruleWord({ action, otherwise }: Rule, truth: Truth): Action {
  switch (truth.is) {
    case 'true':
      return action
    case 'false':
      return otherwise
    case 'undecidable':
      return stronger(action, otherwise)
    default:
      return isStronger(action, otherwise) ? otherwise : action
  }
}

function reasonOf({ rule }: Ready<Rule | Guardrail>, truth: Truth): string {
  if (rule.reason !== '') return rule.reason
  if (truth.is === 'undecidable') return `its condition cannot be decided: ${truth.why}`
  return rule.when === undefined ? '' : truth.is === 'false' ? 'its condition does not hold' : ''
}

function ask({ rule, pointer }: Ready<Rule | Guardrail>): ApprovalAsk {
  return { rule: pointer, reason: rule.reason, ...rule.approval }
}

function traceScope(scope: Scope, facts: Facts, trace: TraceStep[]): void {
  const by = scope.classified ? 'document' : facts.tool === undefined ? 'method' : 'catalogue'
  trace.push({ step: 'category', category: scope.category, by })
  for (const { pointer, why } of scope.aside) trace.push({ step: 'aside', rule: pointer, why })
}

function traceWhen({ rule }: Ready<Rule | Guardrail>, truth: Truth) {
  if (rule.when === undefined) return {}
  const why = truth.is === 'undecidable' ? { why: truth.why } : {}
  return { when: rule.when.expression.text, came: truth.is, ...why }
}

function outsideRules(scope: Resolved, call: Call): Decision {
  if (scope === 'plumbing') return plainDecision('allow', 'ALLOWED', '', '')
  if (scope === 'unknown-tool') return plainDecision('hide', 'DENIED', '', `no server has \`${call.server}/${call.name}\``)
  return plainDecision('deny', 'DENIED', '', `\`${call.method}\` is not a method the gate knows`)
}

function plainDecision(action: Action, code: Decision['code'], rule: string, reason: string): Decision {
  return { action, code, rule, reason, guardrails: [], limits: [], retryAfterMs: 0, approvals: [], shadow: [] }
}
