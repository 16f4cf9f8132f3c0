// Admission of calls: the one interface between the call path and the store that charges limits, uses
// approvals and records intents. A store admits each call as a whole or not at all. memory/admission.ts
// (with a ledger in SQLite) and postgres/admission.ts implement it; both pass admission.test.ts.

import type { Instant } from '@sluice/policy/calls/clock'
import type { LimitCharge, LimitStatus, LimitUsage, Receipt } from '@sluice/policy/calls/counters'
import { compareDecimal } from '@sluice/policy/values/decimal'

/** The approval that a call uses up. */
export interface ApprovalUseRequest {
  readonly id: string
  /** Of a standing approval one call more is used, of any other the whole. */
  readonly isStanding: boolean
  /** The arguments that are sent, as text. */
  readonly argsText: string | undefined
}

/** The version of a principal's sessions that a call was decided by. */
export interface SessionCheck {
  /** 32 bytes, latin1. */
  readonly owner: string
  readonly version: string
}

export interface ChargeRequest<Entry> {
  readonly mode: 'charge'
  readonly callId: string
  /** Everything that must fit, of the call and of rules in shadow mode. */
  readonly charges: readonly LimitCharge[]
  readonly now: Instant
  readonly approval?: ApprovalUseRequest | undefined
  /** Undefined if the sessions are those of this gate alone. */
  readonly checks?: readonly SessionCheck[] | undefined
  /** The intent, as the audit log keeps it. */
  readonly entry: Entry
}

/** Only looks: nothing is charged, used or written. */
export interface ProbeRequest {
  readonly mode: 'probe'
  readonly charges: readonly LimitCharge[]
  readonly now: Instant
  /** As of a charge: whether another gate has changed the session since the decision. */
  readonly checks?: readonly SessionCheck[] | undefined
}

export type AdmissionRequest<Entry> = ChargeRequest<Entry> | ProbeRequest

export type AdmissionReply =
  /** Charged, used and durable: the call may be forwarded. `sequence` is the number of the intent. */
  | { readonly status: 'admitted'; readonly sequence: number; readonly receipt: Receipt }
  /** A probe: everything would fit. */
  | { readonly status: 'fits' }
  /** Nothing happened. `room` has one value for each charge. */
  | { readonly status: 'full'; readonly refused: number; readonly room: readonly LimitStatus[] }
  /** Nothing happened: the approval no longer covers this call. */
  | { readonly status: 'approval-used' }
  /** Nothing happened: another gate changed the policy, a freeze, an approval or the session since
   * the decision. */
  | { readonly status: 'changed' }
  /** Nothing happened, or it was undone: the store cannot promise anything now. */
  | { readonly status: 'unavailable'; readonly why: string }

export interface AdmissionStore<Entry> {
  /** What is known of the limits without waiting. It may show more room than there is, never less:
   * only `admit` decides. */
  readonly usage: LimitUsage
  /** Rejects for nothing: a fault is `unavailable`. */
  admit(request: AdmissionRequest<Entry>): Promise<AdmissionReply>
  /** Undoes the charges of a call of which no byte has left the gate. */
  refund(receipt: Receipt): Promise<void>
}

/** The room that a store replied with, for a second decision. A charge that the store did not look at
 * passes here: the store looks at it next. */
export function usageOfRoom(
  charges: readonly LimitCharge[],
  room: readonly LimitStatus[],
): LimitUsage {
  const byKey = new Map(charges.map(({ key }, at) => [key, room[at] as LimitStatus]))
  return {
    look: ({ key, amount, max }) => {
      const known = byKey.get(key)
      if (known === undefined) return { passes: true, remaining: max, retryAfterMs: 0 }
      const passes = compareDecimal(amount, known.remaining) <= 0
      return { ...known, passes, retryAfterMs: passes ? 0 : known.retryAfterMs }
    },
  }
}
