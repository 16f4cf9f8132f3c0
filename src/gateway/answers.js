// What callers are told when a call does not go on. A denied tool call is a result the model can
// act on; a hidden name is answered exactly as a name no server has. Only the gate speaks under
// `sluice`: a server's answer loses that name on the way.
import { TOOL_CALL } from '../policy/methods.js';
import { RPC, rpcCodeOf } from '../wire/rpc-codes.js';
import { membersOf } from '../wire/spans.js';
import { writeError, writeResult } from '../wire/write-message.js';
export function refusalAnswer(id, method, name, decision, tool) {
    if (decision.action === 'hide')
        return unknownAnswer(id, method, name);
    const told = {
        decision: decision.action,
        code: decision.code,
        reason: decision.reason,
        ...(Number.isFinite(decision.retryAfterMs) && decision.retryAfterMs > 0 ? { retryAfterMs: Math.ceil(decision.retryAfterMs) } : {}),
    };
    const text = `denied by policy: ${decision.reason}`;
    if (method !== TOOL_CALL)
        return writeError(id, rpcCodeOf(decision.code), text, { 'sluice/decision': told });
    return writeResult(id, JSON.stringify({
        content: [{ type: 'text', text }],
        isError: true,
        _meta: { 'sluice/decision': told },
        ...(tool?.definition.outputSchema === undefined ? { structuredContent: { sluice: told } } : {}),
    }));
}
function unknownAnswer(id, method, name) {
    if (method === TOOL_CALL)
        return writeError(id, RPC.invalidParams, `Unknown tool: ${name}`);
    if (method === 'prompts/get')
        return writeError(id, RPC.invalidParams, `Unknown prompt: ${name}`);
    return writeError(id, RPC.resourceNotFound, `Resource not found: ${name}`);
}
/** A server's result without what only the gate may say; every other byte as it was. */
export function withoutOurNames(resultText) {
    const members = membersOf(resultText);
    let changed = false;
    for (const holder of ['_meta', 'structuredContent']) {
        const inner = membersOf(members.get(holder) ?? 'null');
        const ours = [...inner.keys()].filter((key) => /^sluice(\/|$)/i.test(key));
        if (ours.length === 0)
            continue;
        for (const key of ours)
            inner.delete(key);
        members.set(holder, joinMembers(inner));
        changed = true;
    }
    return changed ? joinMembers(members) : resultText;
}
export function joinMembers(members) {
    return `{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}
