// The decision on one call: freezes first, then the policy, then what is refused whatever the policy
// says. Synchronous; charges and records nothing, and only reads the clock and notes the step for stalls. Called by
// admit-call.ts, again after every wait.

import { displayName } from '@sluice/access/identity/display-name'
import { SERVER_REQUESTS } from '@sluice/ledger/records/call-title'
import { UNAVAILABLE_RETRY_MS } from '@sluice/ledger/store/limits'
import type { Instant } from '@sluice/policy/calls/clock'
import type { LimitUsage } from '@sluice/policy/calls/counters'
import type { Decision, ShadowDecision } from '@sluice/policy/calls/decision'
import { decide, plainDecision } from '@sluice/policy/decide/decide'
import { type CompiledPolicy, listCanaries } from '@sluice/policy/model/policy'
import { enterStep } from '../shared/current-step.ts'
import { findCanaryInCall, sentBeside } from '../shared/inspect-arguments.ts'
import { type FreezeTarget, frozenReason } from '../state/freezes.ts'
import type { BoundPolicy } from '../state/policy-set.ts'
import { describePending } from '../tools/describe-pending.ts'
import type { ApprovalClaim, CallPipeline, CallRequest } from './call-request.ts'

export interface DecideOptions {
  readonly pipeline: Pick<CallPipeline, 'frozen' | 'now' | 'policy'>
  readonly request: CallRequest
  readonly usage: LimitUsage
}

export interface CallDecision {
  readonly decision: Decision
  /** The policy that decided, and when. */
  readonly bound: BoundPolicy
  readonly now: Instant
  /** The planted value that the call carries. */
  readonly canary?: string | undefined
}

/** A call with its decision, whatever that is. */
export interface DecidedCall extends Omit<CallDecision, 'canary'> {
  readonly request: CallRequest
  /** The approval that the call is made with. */
  readonly approval?: ApprovalClaim | undefined
}

/** A decision that lets the call pass. */
export type AllowingDecision = Decision & { readonly action: 'allow' }

/** A decided call that may be made. */
export interface PassingCall extends DecidedCall {
  readonly decision: AllowingDecision
}

/** The rule of what holds whatever a document says. */
export const BUILT_IN = 'built-in'

/** A call that was charged before fits into every limit. */
const UNLIMITED: LimitUsage = {
  look: ({ max }) => ({ passes: true, remaining: max, retryAfterMs: 0 }),
}

export function decideCall({ pipeline, request, usage }: DecideOptions): CallDecision {
  const { call, facts } = request
  const now = pipeline.now()
  enterStep('decide', now.monotonicMs)
  const bound = pipeline.policy()
  // A freeze comes first: it holds whatever the policy says, and reveals no hidden name.
  const frozen = pipeline.frozen(toFreezeTarget(request))
  if (frozen !== undefined) return { decision: frozenDecision(frozenReason(frozen)), bound, now }
  const canary = findPlanted(bound.policy, request)
  if (canary !== undefined) return { decision: canaryDecision(canary), bound, now, canary }
  const decision =
    request.continues === true
      ? uncharged(decide(bound.policy, call, facts, UNLIMITED, now))
      : decide(bound.policy, call, facts, usage, now)
  return { decision: applyBuiltIn(request, decision), bound, now }
}

export function mayPass(decided: DecidedCall): decided is PassingCall {
  return decided.decision.action === 'allow'
}

export function toFreezeTarget({ call, facts }: CallRequest): FreezeTarget {
  const { agent, principal, session } = facts
  const { server } = call
  return { server, principal: principal.id, agent: agent?.id ?? null, session: session.id }
}

/** Replaces the decision of a rule by a denial. Where it was decided stays; what the rule said and left does not. */
export function toDenial(decision: Decision, code: Decision['code'], reason: string): Decision {
  const { rule, guardrails, shadow, approval } = decision
  return {
    action: 'deny',
    code,
    rule,
    reason,
    guardrails,
    limits: [],
    retryAfterMs: 0,
    approvals: [],
    shadow,
    ...(approval === undefined ? {} : { approval }),
  }
}

/** The store admits no calls, or the ledger cannot be written. Why is in the log only: an agent learns no
 * address of a database and no path of the machine. */
export function toUnavailable(
  decision: Decision,
  reason = 'temporary outage: the call cannot be recorded, so it is not made',
): Decision {
  const denial = toDenial(decision, 'GATE_UNAVAILABLE', reason)
  return { ...denial, retryAfterMs: UNAVAILABLE_RETRY_MS }
}

/** The audit log names limits only if they were charged. */
export function withoutLimits(decision: ShadowDecision): ShadowDecision {
  return { ...decision, limits: [] }
}

/** Applies the denials that no policy can lift. A hidden name stays hidden all the same. */
function applyBuiltIn(request: CallRequest, decision: Decision): Decision {
  const { pendingDefinition, objection, missing } = request
  if (decision.action === 'hide') return decision
  if (missing === true) {
    const { server, method, name } = request.call
    const reason = `no server has \`${server}/${displayName(method, name)}\``
    return { ...toDenial(decision, 'DENIED', reason), action: 'hide', rule: BUILT_IN }
  }
  const denial =
    pendingDefinition &&
    toDenial(decision, 'DEFINITION_CHANGED', describePending(pendingDefinition))
  if (denial !== undefined && pendingDefinition?.isObserved !== true)
    return { ...denial, rule: BUILT_IN }
  if (objection !== undefined) return { ...toDenial(decision, 'DENIED', objection), rule: BUILT_IN }
  if (denial === undefined) return decision
  const { action, code, reason, limits } = denial
  return {
    ...decision,
    shadow: [...decision.shadow, { action, code, reason, limits, rule: BUILT_IN }],
  }
}

function findPlanted(policy: CompiledPolicy, { call, params }: CallRequest): string | undefined {
  const canaries = listCanaries(policy)
  if (canaries.size === 0 || SERVER_REQUESTS.has(call.method)) return undefined
  return findCanaryInCall(call, sentBeside(params), canaries)
}

/** The agent must not learn that it was a trap; the rule is recorded. */
export const CANARY_REASON = 'the session is frozen until a person looks at it'

function canaryDecision(canary: string): Decision {
  return { ...frozenDecision(CANARY_REASON), rule: `/canaries/${canary}` }
}

function frozenDecision(reason: string): Decision {
  return plainDecision('deny', 'FROZEN', reason)
}

function uncharged(decision: Decision): Decision {
  return { ...decision, limits: [], shadow: decision.shadow.map(withoutLimits) }
}
