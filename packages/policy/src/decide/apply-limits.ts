// The last step of a decision: checks the action reached against the limits of everything that
// applies to the call. Peeks without consuming; the charges are returned for the caller to consume.

import type { Action } from '../calls/actions.ts'
import type { LimitCharge, LimitStatus, LimitUsage } from '../calls/counters.ts'
import type { Decision, DecisionCode } from '../calls/decision.ts'
import type { EvaluationContext } from '../expression/evaluate/evaluate.ts'
import type { PreparedRule } from '../model/applicable-rules.ts'
import type { Guardrail, Limit, Rule } from '../model/rule.ts'
import { type Decimal, formatDecimal } from '../values/decimal.ts'
import type { DecisionDraft } from './combine-rules.ts'
import { toLimitCharge } from './limit-charge.ts'
import type { TraceStep } from './trace.ts'

export type LimitedDecision = Omit<Decision, 'guardrails' | 'shadow'>

export function applyLimits(
  draft: DecisionDraft,
  situation: EvaluationContext,
  usage: LimitUsage | undefined,
  trace: TraceStep[] | undefined,
  shadow: boolean,
): LimitedDecision {
  const { action, pointer } = draft
  if (action === 'deny' || action === 'hide')
    return denied(action, pointer, draft.reason || describeDenial(pointer), draft.isAdvice)
  if (usage === undefined) return passed(draft, [])
  const charges: LimitCharge[] = []
  let worst: ExhaustedLimit | undefined
  for (const ready of draft.limitRules) {
    for (const limit of ready.rule.limits) {
      const taken = toLimitCharge(limit, situation, ready.declared, shadow)
      if (taken.take === undefined)
        return denied('deny', ready.pointer, taken.denial, taken.isAdvice)
      const { take } = taken
      charges.push(take)
      const room = usage.look(take, situation.now)
      trace?.push(traceLimit(ready.pointer, limit, take, room))
      if (!room.passes && (worst === undefined || room.retryAfterMs > worst.room.retryAfterMs))
        worst = { ready, limit, room, max: take.max }
    }
  }
  return worst === undefined ? passed(draft, charges) : exhausted(worst)
}

/** Describes a denial by a rule that gives no reason, without the names that the document uses. */
function describeDenial(pointer: string): string {
  const [section = '', key] = pointer.slice(pointer.indexOf('/') + 1).split('/')
  if (section === 'categories') return `the policy permits no ${key} calls`
  if (section === 'guardrails') return 'a guardrail of the policy does not permit it'
  return `the policy does not permit this ${section.slice(0, -1)}`
}

function passed(draft: DecisionDraft, limits: readonly LimitCharge[]): LimitedDecision {
  const approval = draft.action === 'require_approval'
  return {
    action: draft.action,
    code: approval ? 'APPROVAL_REQUIRED' : 'ALLOWED',
    rule: draft.pointer,
    reason: approval ? draft.reason || 'a person has to approve it' : '',
    limits,
    retryAfterMs: 0,
    approvals: approval ? draft.asking : [],
  }
}

interface ExhaustedLimit {
  readonly ready: PreparedRule<Rule | Guardrail>
  readonly limit: Limit
  readonly room: LimitStatus
  /** What `max` was for this call. */
  readonly max: Decimal
}

function exhausted({ ready, limit, room, max }: ExhaustedLimit): LimitedDecision {
  const code = limit.kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED'
  const left = limit.kind === 'spend' ? `, ${formatDecimal(room.remaining)} left` : ''
  const { reason, when, action } = ready.rule
  // A reason is about the limit only if there is nothing else it could be about.
  const ofLimit = when === undefined && (action ?? 'allow') === 'allow' ? reason : ''
  const text = ofLimit || `the limit of ${limitText(limit, max)} is reached${left}`
  const remaining = formatDecimal(room.remaining)
  return { ...ended('deny', code, ready.pointer, text, room.retryAfterMs), remaining }
}

/** Describes the limit with its number, which an answer may have. */
function limitText({ maxOf, text }: Limit, max: Decimal): string {
  return maxOf === undefined ? text : `${formatDecimal(max)}, by ${text},`
}

function denied(
  action: Action,
  rule: string,
  reason: string,
  isAdvice: boolean | undefined,
): LimitedDecision {
  const decision = ended(action, 'DENIED', rule, reason, 0)
  return isAdvice === true ? { ...decision, isAdvice } : decision
}

function ended(
  action: Action,
  code: DecisionCode,
  rule: string,
  reason: string,
  retryAfterMs: number,
): LimitedDecision {
  return { action, code, rule, reason, limits: [], retryAfterMs, approvals: [] }
}

function traceLimit(rule: string, limit: Limit, take: LimitCharge, room: LimitStatus): TraceStep {
  return {
    step: 'limit',
    rule,
    limit: limit.text,
    key: take.key,
    amount: formatDecimal(take.amount),
    remaining: formatDecimal(room.remaining),
    passes: room.passes,
    retryAfterMs: room.retryAfterMs,
  }
}
