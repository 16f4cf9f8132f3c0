// The tools of one session with one server: what the server lists, and what of it this caller may
// see. A call to a tool nobody listed yet makes the gate ask the server itself, so that a call is
// never judged by a name alone.

import type { Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import { isObject, type JsonValue } from '../core/json.ts'
import type { KnownTool, ToolDefinition } from '../core/tools.ts'
import { visible } from '../policy/decide.ts'
import { TOOL_CALL } from '../policy/methods.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { Answer } from '../wire/message.ts'
import { elementsOf, membersOf } from '../wire/spans.ts'
import { joinMembers } from './answers.ts'
import type { KnownTools } from './known-tools.ts'
import { LIST_PAGES_MAX } from './limits.ts'

export interface ToolListContext {
  readonly server: string
  readonly known: KnownTools
  readonly policy: () => CompiledPolicy
  readonly now: () => Instant
  /** Asks the server, as the gate. */
  readonly ask: (method: string, params: { cursor?: string }) => Promise<Answer>
}

export class ToolList {
  readonly #context: ToolListContext
  readonly #tools = new Map<string, KnownTool>()
  #listing: Promise<void> | undefined

  constructor(context: ToolListContext) {
    this.#context = context
  }

  async find(name: string): Promise<KnownTool | undefined> {
    const tool = this.#tools.get(name)
    if (tool !== undefined) return tool
    this.#listing ??= this.#listAll()
    await this.#listing
    return this.#tools.get(name)
  }

  /** The server said its tools have changed: what was known is asked for again. */
  forget(): void {
    this.#tools.clear()
    this.#listing = undefined
  }

  /** A `tools/list` result with what this caller may see; definitions as they were written. */
  filter(resultText: string, facts: Omit<Facts, 'tool'>): string {
    const members = membersOf(resultText)
    const definitions = this.#learn(members.get('tools'))
    const now = this.#context.now()
    const policy = this.#context.policy()
    const shown = definitions.filter(({ tool }) => {
      const { server, name } = tool.definition
      return visible(policy, { server, name, method: TOOL_CALL }, { ...facts, tool }, now)
    })
    members.set('tools', `[${shown.map(({ text }) => text).join(',')}]`)
    return joinMembers(members)
  }

  async #listAll(): Promise<void> {
    let cursor: string | undefined
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const { result } = await this.#context.ask(
        'tools/list',
        cursor === undefined ? {} : { cursor },
      )
      if (result === undefined) return
      const members = membersOf(result)
      this.#learn(members.get('tools'))
      const next = members.get('nextCursor')
      cursor = next === undefined ? undefined : (JSON.parse(next) as string)
      if (typeof cursor !== 'string') return
    }
  }

  #learn(listText: string | undefined): { readonly tool: KnownTool; readonly text: string }[] {
    if (listText === undefined) return []
    return elementsOf(listText).flatMap((text) => {
      const definition = JSON.parse(text) as JsonValue
      if (!isObject(definition) || typeof definition.name !== 'string') return []
      const tool = this.#context.known.accept(
        this.#context.server,
        definition as unknown as ToolDefinition,
        text,
      )
      this.#tools.set(tool.definition.name, tool)
      return [{ tool, text }]
    })
  }
}
