// The spine of the gate: what happens to one call before anything leaves. Decision, limits, record,
// in this order and nowhere else. A call goes on only with its intent on record; a fault on the way
// is a refusal.

import type { Call, Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import type { Consumed, Counters, Take, Usage } from '../core/counters.ts'
import type { Decision } from '../core/decision.ts'
import { decide } from '../policy/decide.ts'
import type { CompiledPolicy } from '../policy/policy.ts'

/** The record, as far as the spine needs it. */
export interface Record {
  /** Resolves when the intent is durable, with its number; rejects where it cannot be written. */
  intent(call: Call, facts: Facts, decision: Decision, now: Instant): Promise<number>
  refusal(call: Call, facts: Facts, decision: Decision, now: Instant): void
}

export interface Spine {
  readonly policy: () => CompiledPolicy
  readonly counters: Counters & Usage
  readonly record: Record
  readonly now: () => Instant
}

export type Admitted =
  | { readonly admitted: true; readonly intent: number }
  | { readonly admitted: false; readonly decision: Decision }

export async function admit(spine: Spine, call: Call, facts: Facts): Promise<Admitted> {
  const now = spine.now()
  const decision = decide(spine.policy(), call, facts, spine.counters, now)
  if (decision.action !== 'allow') return refuse(spine, call, facts, held(decision), now)
  const consumed = await spine.counters.consume(decision.limits, now)
  if (!consumed.ok) return refuse(spine, call, facts, outrun(decision, consumed), now)
  try {
    return { admitted: true, intent: await spine.record.intent(call, facts, decision, now) }
  } catch (error) {
    // No record, no call; and what was not sent has not been used.
    await spine.counters.giveBack(consumed.receipt)
    const reason = `the call cannot be recorded, so it is not made: ${(error as Error).message}`
    return { admitted: false, decision: { ...decision, action: 'deny', code: 'POLICY_FAULT', reason, limits: [] } }
  }
}

function refuse(spine: Spine, call: Call, facts: Facts, decision: Decision, now: Instant): Admitted {
  spine.record.refusal(call, facts, decision, now)
  return { admitted: false, decision }
}

/** Until there are approvals, what asks for one is denied and says so. */
function held(decision: Decision): Decision {
  if (decision.action !== 'require_approval') return decision
  const reason = `${decision.reason}; approvals are not available yet, so the call is denied`
  return { ...decision, action: 'deny', code: 'DENIED', reason, limits: [] }
}

/** Another call was faster between looking and consuming. */
function outrun(decision: Decision, { refused, room }: Consumed & { ok: false }): Decision {
  const { kind } = decision.limits[refused] as Take
  const code = kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED'
  const reason = 'the limit was reached by another call at the same moment'
  return { ...decision, action: 'deny', code, reason, limits: [], retryAfterMs: room.retryAfterMs }
}
