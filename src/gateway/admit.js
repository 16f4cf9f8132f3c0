// The spine of the gate: what happens to one call before anything leaves. Decision, limits, record,
// in this order and nowhere else. A call goes on only with its intent on record; a fault on the way
// is a refusal.
import { decide } from '../policy/decide.js';
export async function admit(spine, call, facts, argsText) {
    const now = spine.now();
    const decision = decide(spine.policy(), call, facts, spine.counters, now);
    const refuse = (refused) => {
        spine.record.refusal({ call, facts, decision: refused, argsText, now });
        return { admitted: false, decision: refused };
    };
    if (decision.action !== 'allow')
        return refuse(withoutApprovals(decision));
    const consumed = await spine.counters.consume(decision.limits, now);
    if (!consumed.ok)
        return refuse(outrun(decision, consumed));
    try {
        const intent = await spine.record.intent({ call, facts, decision, argsText, now });
        return { admitted: true, intent };
    }
    catch (error) {
        // No record, no call; and what was not sent has not been used.
        await spine.counters.giveBack(consumed.receipt);
        const reason = `the call cannot be recorded, so it is not made: ${error.message}`;
        return { admitted: false, decision: denied(decision, 'POLICY_FAULT', reason) };
    }
}
/** Until there are approvals, what asks for one is denied and says so. */
function withoutApprovals(decision) {
    if (decision.action !== 'require_approval')
        return decision;
    const reason = `${decision.reason}; nobody can be asked yet, so it is denied`;
    return denied(decision, 'DENIED', reason);
}
/** Another call was faster between looking and consuming. */
function outrun(decision, { refused, room }) {
    const { kind } = decision.limits[refused];
    const code = kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED';
    const reason = 'the limit was reached by another call at the same moment';
    return { ...denied(decision, code, reason), retryAfterMs: room.retryAfterMs };
}
function denied(decision, code, reason) {
    return { ...decision, action: 'deny', code, reason, limits: [], approvals: [] };
}
