// The spine of the gate: what happens to one call before anything leaves. Decision, limits, record,
// in this order and nowhere else. A call goes on only with its intent on record; a fault on the way
// is a refusal.

import type { Call, Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import type { Consumed, Counters, Take, Usage } from '../core/counters.ts'
import type { Decision } from '../core/decision.ts'
import { decide } from '../policy/decide.ts'
import type { CompiledPolicy } from '../policy/policy.ts'

/** A call with what was decided on it, for the record. */
export interface Judged {
  readonly call: Call
  readonly facts: Facts
  readonly decision: Decision
  /** The arguments as they were read; undefined where there are none. */
  readonly argsText: string | undefined
  readonly now: Instant
}

/** The record, as far as the spine needs it. */
export interface CallRecord {
  /** Resolves when the intent is durable, with its number; rejects where it cannot be written. */
  intent(judged: Judged): Promise<number>
  refusal(judged: Judged): void
}

export interface Spine {
  readonly policy: () => CompiledPolicy
  readonly counters: Counters & Usage
  readonly record: CallRecord
  readonly now: () => Instant
}

export type Admitted =
  | { readonly admitted: true; readonly intent: number }
  | { readonly admitted: false; readonly decision: Decision }

export async function admit(
  spine: Spine,
  call: Call,
  facts: Facts,
  argsText: string | undefined,
): Promise<Admitted> {
  const now = spine.now()
  const decision = decide(spine.policy(), call, facts, spine.counters, now)
  const refuse = (refused: Decision): Admitted => {
    spine.record.refusal({ call, facts, decision: refused, argsText, now })
    return { admitted: false, decision: refused }
  }
  if (decision.action !== 'allow') return refuse(withoutApprovals(decision))
  const consumed = await spine.counters.consume(decision.limits, now)
  if (!consumed.ok) return refuse(outrun(decision, consumed))
  try {
    const intent = await spine.record.intent({ call, facts, decision, argsText, now })
    return { admitted: true, intent }
  } catch (error) {
    // No record, no call; and what was not sent has not been used.
    await spine.counters.giveBack(consumed.receipt)
    const reason = `the call cannot be recorded, so it is not made: ${(error as Error).message}`
    return { admitted: false, decision: denied(decision, 'POLICY_FAULT', reason) }
  }
}

/** Until there are approvals, what asks for one is denied and says so. */
function withoutApprovals(decision: Decision): Decision {
  if (decision.action !== 'require_approval') return decision
  const reason = `${decision.reason}; nobody can be asked yet, so it is denied`
  return denied(decision, 'DENIED', reason)
}

/** Another call was faster between looking and consuming. */
function outrun(decision: Decision, { refused, room }: Consumed & { ok: false }): Decision {
  const { kind } = decision.limits[refused] as Take
  const code = kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED'
  const reason = 'the limit was reached by another call at the same moment'
  return { ...denied(decision, code, reason), retryAfterMs: room.retryAfterMs }
}

function denied(decision: Decision, code: Decision['code'], reason: string): Decision {
  return { ...decision, action: 'deny', code, reason, limits: [], approvals: [] }
}
