// The running gate: servers, policy, counters and record put together, and a relay for every session
// that a front opens. Fronts and commands know the gate by this class alone.
import { LOCAL_SLOTS } from '../identity/limits.js';
import { Slots } from '../identity/slots.js';
import { KnownTools } from './known-tools.js';
import { LedgerRecord } from './record-calls.js';
import { Relay } from './relay.js';
import { ToolList } from './tool-list.js';
import { connectHttpServer } from './upstream/http.js';
import { startStdioServer } from './upstream/stdio.js';
export class Gate {
    #parts;
    #spine;
    #record;
    #known = new KnownTools();
    #slots = new Slots();
    #relays = new Set();
    constructor(parts) {
        this.#parts = parts;
        this.#record = new LedgerRecord(parts.ledger, () => parts.policyId, parts.log);
        this.#spine = {
            policy: () => parts.policy,
            counters: parts.counters,
            record: this.#record,
            now: () => ({ wallMs: Date.now(), monotonicMs: performance.now() }),
        };
    }
    get slots() {
        return this.#slots;
    }
    hasServer(name) {
        return Object.hasOwn(this.#parts.config.servers, name);
    }
    /** Puts the gate between a client's session and a server. */
    open(name, client, principal) {
        const config = this.#parts.config.servers[name];
        const log = (level, message, fields) => this.#parts.log(level, message, { server: name, ...fields });
        const server = this.#connect(name, config, log);
        const use = this.#slots.open(principal.id, LOCAL_SLOTS, Date.now());
        const { ownPaths } = this.#parts;
        const facts = () => ({
            transport: config.kind,
            principal,
            agent: null,
            session: use.facts(Date.now()),
            ownPaths,
        });
        const tools = new ToolList({
            server: name,
            known: this.#known,
            policy: this.#spine.policy,
            now: this.#spine.now,
            ask: (method, params) => relay.ask(method, params),
        });
        const relay = new Relay(client, server, {
            spine: this.#spine,
            server: name,
            facts,
            tools,
            onCall: () => use.used(Date.now()),
            onAnswer: (tool) => use.see(this.#parts.policy.labels.all(name, tool).flat()),
            outcome: (intent, startedMs, outcome) => this.#record.outcome(intent, startedMs, outcome),
            onRevision: (revision) => {
                client.revision = revision;
            },
            onEnd: () => {
                use.release();
                this.#relays.delete(relay);
            },
            log: (text) => log('warn', text),
        });
        this.#relays.add(relay);
    }
    async close(why) {
        await Promise.all([...this.#relays].map((relay) => relay.end(why)));
    }
    #connect(name, config, log) {
        if (config.kind === 'stdio')
            return startStdioServer({ name, command: config.command, env: config.env, cwd: config.cwd, log, watcher: this.#parts.watcher });
        return connectHttpServer({ name, url: config.url, headers: config.headers, log, pools: this.#parts.pools });
    }
}
