// Charges the limits of a call, uses its approval and records its intent: one request to the store, all
// or none. Without a durable intent no call is made. Called by admit-call.ts.

import { type AdmissionReply, usageOfRoom } from '@sluice/ledger/store/admission'
import { findPrice, type LimitCharge, type LimitUsage } from '@sluice/policy/calls/counters'
import type { Decision } from '@sluice/policy/calls/decision'
import { formatDecimal } from '@sluice/policy/values/decimal'
import type { Admission, CallPipeline, CallProgress, CallRequest } from './call-request.ts'
import { type PassingCall, toDenial, toUnavailable, withoutLimits } from './decide-call.ts'
import { toEntry } from './record-calls.ts'

export interface ChargeOptions {
  readonly pipeline: CallPipeline
  readonly passing: PassingCall
  readonly progress: CallProgress
  /** The call was decided often enough: rules in shadow mode, which stop nothing, charge nothing. */
  readonly isLastTry: boolean
}

export type ChargeOutcome =
  | {
      readonly status: 'admitted'
      readonly admission: Admission
      readonly request: CallRequest
    }
  /** Nothing was charged, used or recorded. */
  | ({ readonly status: 'stale' } & StaleDecision)
  /** The call cannot be recorded, so it is not made, and its refusal cannot be recorded either. */
  | { readonly status: 'unavailable'; readonly decision: Decision }

/** The limits, or the approval, changed since the decision: decide again. */
export interface StaleDecision {
  /** The limits with what is left of them; undefined if they did not change. */
  readonly usage?: LimitUsage | undefined
  /** The refusal of a call that was decided too often. */
  readonly refusal: Decision
}

export async function chargeAndRecord(options: ChargeOptions): Promise<ChargeOutcome> {
  const { pipeline, progress } = options
  const { callId, instrumented } = progress
  const passing = options.isLastTry ? withoutShadowCharges(options.passing) : options.passing
  const { approval, decision, now, request } = passing
  const charges = listCharges(decision)
  const use = approval?.use && { ...approval.use, argsText: request.argsText }
  const entry = toEntry({ pipeline, decided: passing, callId })
  instrumented.step('limits')
  const { checks } = request
  const charge = { mode: 'charge', callId, charges, now, approval: use, checks, entry } as const
  const reply = await pipeline.admission.admit(charge)
  switch (reply.status) {
    case 'admitted': {
      instrumented.step('intent')
      instrumented.decided(decision, callId)
      const { sequence: intent, receipt } = reply
      const { quiet } = decision
      const price = findPrice(decision.limits)
      const admission = { callId, intent, receipt, instrumented, approval, price, quiet }
      return { status: 'admitted', admission, request }
    }
    case 'full':
      return { status: 'stale', ...toStaleDecision(decision, charges, reply) }
    case 'approval-used':
      return { status: 'stale', refusal: toLostApproval(decision, use) }
    case 'changed':
      return { status: 'stale', refusal: toChangingDenial(decision) }
    default: {
      const why = reply.status === 'unavailable' ? reply.why : 'the store gave no answer'
      const fault = toUnavailable(decision)
      pipeline.record.unrecorded(callId, why)
      instrumented.decided(fault, callId)
      return { status: 'unavailable', decision: fault }
    }
  }
}

/** Charges of rules in shadow mode count beside those of the call. */
export function listCharges({ limits, shadow }: Decision): readonly LimitCharge[] {
  return shadow.length === 0 ? limits : [...limits, ...shadow.flatMap(({ limits }) => limits)]
}

function withoutShadowCharges(passing: PassingCall): PassingCall {
  const { decision } = passing
  return { ...passing, decision: { ...decision, shadow: decision.shadow.map(withoutLimits) } }
}

const APPROVAL_LOST = 'an identical call has used the approval at the same moment'

/** The record names the approval that another call has used. */
function toLostApproval(decision: Decision, use: { readonly id: string } | undefined): Decision {
  const denial = toDenial(decision, 'APPROVAL_USED', APPROVAL_LOST)
  return use === undefined ? denial : { ...denial, approval: { id: use.id } }
}

const KEEPS_CHANGING =
  'temporary outage: policies, freezes, approvals or the session were changed at other gates during every decision'

/** Other gates made changes during every decision. */
export function toChangingDenial(decision: Decision): Decision {
  return toUnavailable(decision, KEEPS_CHANGING)
}

/** Other calls were faster between the decision and the charge. */
export function toStaleDecision(
  decision: Decision,
  charges: readonly LimitCharge[],
  { refused, room }: AdmissionReply & { status: 'full' },
): StaleDecision {
  const code = charges[refused]?.kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED'
  const denial = toDenial(
    decision,
    code,
    'the limit was reached by another call at the same moment',
  )
  const left = room[refused]
  const refusal =
    left === undefined
      ? denial
      : { ...denial, retryAfterMs: left.retryAfterMs, remaining: formatDecimal(left.remaining) }
  return { usage: usageOfRoom(charges, room), refusal }
}
