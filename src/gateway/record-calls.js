// Calls into the ledger: the intent before anything is forwarded, the outcome after. What an agent
// sent is kept as a digest, never as text.
import { randomUUID } from 'node:crypto';
import { digestOf } from '../ledger/record.js';
export class LedgerRecord {
    #ledger;
    #policy;
    #log;
    /** `policy` says which document judges: its name and digest. */
    constructor(ledger, policy, log) {
        this.#ledger = ledger;
        this.#policy = policy;
        this.#log = log;
    }
    intent(judged) {
        return this.#ledger.intent(this.#judgement(judged));
    }
    refusal(judged) {
        this.#ledger.refuse(this.#judgement(judged)).catch((error) => {
            this.#log('error', 'a refusal could not be recorded', { why: error.message });
        });
    }
    outcome(intent, startedMs, outcome) {
        const { status, bytes, errorCode } = outcome;
        this.#ledger.outcome(intent, {
            atMs: Date.now(),
            status,
            bytes,
            durationMs: Math.round(performance.now() - startedMs),
            ...(errorCode === undefined ? {} : { errorCode }),
        });
    }
    #judgement({ call, facts, decision, argsText, now }) {
        return {
            atMs: now.wallMs,
            callId: randomUUID(),
            principal: { id: facts.principal.id, kind: facts.principal.kind },
            agent: facts.agent?.id ?? null,
            session: facts.session.id,
            server: call.server,
            method: call.method,
            name: call.name,
            category: facts.tool?.category ?? null,
            policy: this.#policy(),
            decision,
            judged: {},
            argsDigest: argsText === undefined ? null : digestOf(argsText),
        };
    }
}
