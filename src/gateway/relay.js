// One client session and one server, with the gate between them: every message is judged, renamed
// and carried over. Ids are the gate's own on each side, so that neither can answer what it was not
// asked.
import { isObject } from '../core/json.js';
import { CONTENT_METHODS, PLUMBING, TOOL_CALL } from '../policy/methods.js';
import { RPC } from '../wire/rpc-codes.js';
import { oneLine, writeError, writeNotification, writeRequest, writeResult } from '../wire/write-message.js';
import { admit } from './admit.js';
import { refusalAnswer, withoutOurNames } from './answers.js';
export class Relay {
    #client;
    #server;
    #context;
    /** Requests carried over and not yet answered, by the gate's id. */
    #toServer = new Map();
    #toClient = new Map();
    /** The gate's own questions to the server. */
    #own = new Map();
    #nextId = 1;
    #closed = false;
    constructor(client, server, context) {
        this.#client = client;
        this.#server = server;
        this.#context = context;
        client.onMessage = (message) => this.#fromClient(message);
        server.onMessage = (message, related) => this.#fromServer(message, related);
        client.onClose = (why) => this.close(why);
        server.onClose = (why) => this.close(`the server ended the connection: ${why}`);
    }
    close(why) {
        if (this.#closed)
            return;
        this.#closed = true;
        for (const pending of this.#toServer.values()) {
            const text = writeError(pending.id, RPC.internal, `${why}; whether the call was carried out is unknown`);
            this.#client.send(text, { request: pending.id, answers: true });
            this.#settle(pending, { status: 'unknown', bytes: 0 });
        }
        this.#toServer.clear();
        this.#client.close(why);
        this.#server.close(why);
        this.#context.onEnd();
    }
    /** Closes, and waits until nothing of the server is left. */
    end(why) {
        this.close(why);
        return this.#server.ended;
    }
    #settle({ intent, startedMs }, outcome) {
        if (intent !== undefined)
            this.#context.outcome(intent, startedMs, outcome);
    }
    /** A question of the gate's own, such as for the list of tools. */
    ask(method, params) {
        const id = this.#nextId++;
        const members = new Map(Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)]));
        return new Promise((resolve, reject) => {
            this.#own.set(id, resolve);
            if (!this.#server.send(writeRequest(id, method, members)))
                reject(new Error('the server is gone'));
        });
    }
    #fromClient(message) {
        if (message.kind === 'request')
            void this.#clientRequest(message);
        else if (message.kind === 'notification')
            this.#notify(message, this.#server, this.#toServer);
        else
            this.#answer(message, this.#toClient, this.#server);
    }
    #fromServer(message, related) {
        if (message.kind === 'request')
            void this.#serverRequest(message, related);
        else if (message.kind === 'notification')
            this.#serverNotification(message, related);
        else
            this.#serverAnswer(message);
    }
    async #clientRequest(request) {
        const { id, method } = request;
        const reply = (text) => this.#client.send(text, { request: id, answers: true });
        if (PLUMBING.has(method))
            return this.#carry(request, undefined, '');
        if (method !== TOOL_CALL && !CONTENT_METHODS.has(method))
            return void reply(writeError(id, RPC.methodNotFound, `\`${method}\` is not a method the gate knows`));
        const call = this.#callOf(request);
        const tool = method === TOOL_CALL ? await this.#context.tools.find(call.name) : undefined;
        const facts = { ...this.#context.facts(), ...(tool === undefined ? {} : { tool }) };
        const admitted = await admit(this.#context.spine, call, facts, request.params?.text.get('arguments'));
        if (this.#closed)
            return;
        if (admitted.admitted) {
            this.#context.onCall();
            this.#carry(request, admitted.intent, call.name);
        }
        else
            reply(refusalAnswer(id, method, call.name, admitted.decision, tool));
    }
    /** What the policy judges: the name and the arguments as they were read. */
    #callOf({ method, params }) {
        const value = params?.value ?? {};
        const nameOf = method.startsWith('resources/') ? value.uri : value.name;
        const name = typeof nameOf === 'string' ? nameOf : '';
        const args = method === TOOL_CALL || method === 'prompts/get' ? value.arguments : value;
        return { server: this.#context.server, method, name, args: isObject(args) ? args : {} };
    }
    #carry({ id, method, params }, intent, name) {
        const upstream = this.#nextId++;
        const startedMs = performance.now();
        const pending = { id, method, intent, name, startedMs, progressToken: progressToken(params) };
        this.#toServer.set(upstream, pending);
        if (this.#server.send(oneLine(writeRequest(upstream, method, params?.text))))
            return;
        this.#toServer.delete(upstream);
        this.#settle(pending, { status: 'unknown', bytes: 0 });
        this.#client.send(writeError(id, RPC.internal, 'the server is gone'), { request: id, answers: true });
    }
    #serverAnswer(answer) {
        const own = this.#own.get(answer.id);
        if (own !== undefined) {
            this.#own.delete(answer.id);
            return own(answer);
        }
        const pending = this.#toServer.get(answer.id);
        if (pending === undefined)
            return this.#context.log(`an answer nobody asked for, id ${answer.id}`);
        this.#toServer.delete(answer.id);
        const text = this.#answerText(pending, answer);
        this.#client.send(text, { request: pending.id, answers: true });
        if (pending.method === TOOL_CALL)
            this.#context.onAnswer(pending.name);
        const error = answer.error === undefined ? {} : { errorCode: answer.error.code };
        this.#settle(pending, { status: answer.error ? 'error' : 'answered', bytes: text.length, ...error });
    }
    #answerText({ id, method }, { error, result }) {
        if (error !== undefined || result === undefined)
            return writeError(id, error?.code ?? RPC.internal, error?.message ?? 'an answer without a result', error?.data);
        if (method === 'initialize')
            this.#context.onRevision(revisionOf(result));
        const told = method === 'tools/list' ? this.#context.tools.filter(result, this.#context.facts()) : withoutOurNames(result);
        return oneLine(writeResult(id, told));
    }
    async #serverRequest(request, related) {
        const { id, method, params } = request;
        const refuse = (code, text) => this.#server.send(writeError(id, code, text));
        if (method !== 'ping') {
            if (!CONTENT_METHODS.has(method))
                return void refuse(RPC.methodNotFound, `\`${method}\` does not pass the gate`);
            const admitted = await admit(this.#context.spine, this.#callOf(request), this.#context.facts(), undefined);
            if (this.#closed)
                return;
            if (!admitted.admitted)
                return void refuse(RPC.invalidRequest, `denied by policy: ${admitted.decision.reason}`);
        }
        const ours = `sluice-${this.#nextId++}`;
        const startedMs = performance.now();
        this.#toClient.set(ours, { id, method, intent: undefined, name: '', startedMs, progressToken: undefined });
        this.#client.send(oneLine(writeRequest(ours, method, params?.text)), this.#relatedTo(related));
    }
    #serverNotification(message, related) {
        if (message.method === 'notifications/tools/list_changed')
            this.#context.tools.forget();
        if (message.method === 'notifications/cancelled')
            return this.#notify(message, this.#client, this.#toClient);
        if (!PLUMBING.has(message.method))
            return this.#context.log(`a notification that does not pass: ${message.method}`);
        const token = message.params?.value.progressToken;
        const of = [...this.#toServer.values()].find((pending) => token !== undefined && pending.progressToken === token);
        const relation = of === undefined ? this.#relatedTo(related) : { request: of.id };
        this.#client.send(oneLine(writeNotification(message.method, message.params?.text)), relation);
    }
    /** The client's request that a message of the server's belongs to. */
    #relatedTo(related) {
        const known = related?.request === undefined ? undefined : this.#toServer.get(related.request);
        const only = this.#toServer.size === 1 ? [...this.#toServer.values()][0] : undefined;
        const pending = known ?? only;
        return pending === undefined ? {} : { request: pending.id };
    }
    /** Carries a notification over; a cancellation with the id the other side knows. */
    #notify({ method, params }, to, carried) {
        if (!PLUMBING.has(method))
            return this.#context.log(`a notification that does not pass: ${method}`);
        if (method !== 'notifications/cancelled')
            return void to.send(oneLine(writeNotification(method, params?.text)));
        const cancelled = params?.value.requestId;
        for (const [ours, pending] of carried) {
            if (pending.id !== cancelled)
                continue;
            const members = new Map(params?.text).set('requestId', JSON.stringify(ours));
            to.send(oneLine(writeNotification(method, members)));
            this.#settle(pending, { status: 'cancelled', bytes: 0 });
            this.#toServer.delete(ours);
            this.#toClient.delete(ours);
        }
    }
    #answer(answer, carried, to) {
        const pending = carried.get(answer.id);
        if (pending === undefined)
            return this.#context.log(`an answer nobody asked for, id ${answer.id}`);
        carried.delete(answer.id);
        const { error, result } = answer;
        const text = error === undefined && result !== undefined ? writeResult(pending.id, result) : writeError(pending.id, error?.code ?? RPC.internal, error?.message ?? '', error?.data);
        to.send(oneLine(text));
    }
}
function progressToken(params) {
    const meta = params?.value._meta;
    return isObject(meta) ? meta.progressToken : undefined;
}
function revisionOf(result) {
    const { protocolVersion } = JSON.parse(result);
    return typeof protocolVersion === 'string' ? protocolVersion : '';
}
