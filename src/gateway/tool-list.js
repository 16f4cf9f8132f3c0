// The tools of one session with one server: what the server lists, and what of it this caller may
// see. A call to a tool nobody listed yet makes the gate ask the server itself, so that a call is
// never judged by a name alone.
import { isObject } from '../core/json.js';
import { visible } from '../policy/decide.js';
import { TOOL_CALL } from '../policy/methods.js';
import { elementsOf, membersOf } from '../wire/spans.js';
import { joinMembers } from './answers.js';
import { LIST_PAGES_MAX } from './limits.js';
export class ToolList {
    #context;
    #tools = new Map();
    #listing;
    constructor(context) {
        this.#context = context;
    }
    async find(name) {
        const tool = this.#tools.get(name);
        if (tool !== undefined)
            return tool;
        this.#listing ??= this.#listAll();
        await this.#listing;
        return this.#tools.get(name);
    }
    /** The server said its tools have changed: what was known is asked for again. */
    forget() {
        this.#tools.clear();
        this.#listing = undefined;
    }
    /** A `tools/list` result with what this caller may see; definitions as they were written. */
    filter(resultText, facts) {
        const members = membersOf(resultText);
        const definitions = this.#learn(members.get('tools'));
        const now = this.#context.now();
        const policy = this.#context.policy();
        const shown = definitions.filter(({ tool }) => {
            const { server, name } = tool.definition;
            return visible(policy, { server, name, method: TOOL_CALL }, { ...facts, tool }, now);
        });
        members.set('tools', `[${shown.map(({ text }) => text).join(',')}]`);
        return joinMembers(members);
    }
    async #listAll() {
        let cursor;
        for (let page = 0; page < LIST_PAGES_MAX; page++) {
            const { result } = await this.#context.ask('tools/list', cursor === undefined ? {} : { cursor });
            if (result === undefined)
                return;
            const members = membersOf(result);
            this.#learn(members.get('tools'));
            const next = members.get('nextCursor');
            cursor = next === undefined ? undefined : JSON.parse(next);
            if (typeof cursor !== 'string')
                return;
        }
    }
    #learn(listText) {
        if (listText === undefined)
            return [];
        return elementsOf(listText).flatMap((text) => {
            const definition = JSON.parse(text);
            if (!isObject(definition) || typeof definition.name !== 'string')
                return [];
            const tool = this.#context.known.accept(this.#context.server, definition, text);
            this.#tools.set(tool.definition.name, tool);
            return [{ tool, text }];
        });
    }
}
