// The lists of one session with one server: what the server lists, and what of it this caller may
// see. A call to a tool nobody listed yet makes the gate ask the server itself, so that a call is
// never judged by a name alone. Definitions pass as the server wrote them, or not at all.

import type { Facts } from '../../core/call.ts'
import type { Instant } from '../../core/clock.ts'
import { isObject, type JsonValue } from '../../core/json.ts'
import type { KnownTool, ToolDefinition } from '../../core/tools.ts'
import { visible } from '../../policy/decide/decide.ts'
import { TOOL_CALL } from '../../policy/methods.ts'
import type { CompiledPolicy } from '../../policy/policy.ts'
import type { Answer } from '../../wire/message.ts'
import { elementsOf, membersOf } from '../../wire/spans.ts'
import { writeMembers } from '../../wire/write-message.ts'
import type { KnownTools } from '../known-tools.ts'
import { LIST_AGE_MS, LIST_PAGES_MAX } from '../limits.ts'
import type { HeldTool } from '../operate/pins.ts'

export interface SeenListsContext {
  readonly server: string
  readonly known: KnownTools
  readonly policy: () => CompiledPolicy
  readonly now: () => Instant
  /** Why a definition may be neither shown nor called. */
  readonly heldOf: (tool: KnownTool) => HeldTool | undefined
  /** It may neither be shown nor called, by what the protocol says of its definition. */
  readonly leavesOut: (tool: KnownTool) => boolean
  /** Asks the server, as the gate; rejects where no answer comes. */
  readonly ask: (method: string, params: Record<string, string>) => Promise<Answer>
  /** How long definitions hold where no server tells of changes; undefined where it does. */
  readonly freshMs?: number | undefined
}

/** Where a list has its entries, what names an entry, and which call it is for. */
const LISTS = new Map([
  ['tools/list', { key: 'tools', name: 'name', method: TOOL_CALL }],
  ['prompts/list', { key: 'prompts', name: 'name', method: 'prompts/get' }],
  ['resources/list', { key: 'resources', name: 'uri', method: 'resources/read' }],
  [
    'resources/templates/list',
    { key: 'resourceTemplates', name: 'uriTemplate', method: 'resources/read' },
  ],
])

export class SeenLists {
  readonly #context: SeenListsContext
  readonly #tools = new Map<string, KnownTool>()
  #listing: Promise<void> | undefined
  #learntAtMs = Number.POSITIVE_INFINITY

  constructor(context: SeenListsContext) {
    this.#context = context
  }

  /** A promise only where the server has to be asked; rejects where it does not say what tools it
   * has. */
  find(name: string): KnownTool | Promise<KnownTool | undefined> {
    const { freshMs = LIST_AGE_MS, now } = this.#context
    if (now().monotonicMs - this.#learntAtMs > freshMs) this.forget()
    return this.#tools.get(name) ?? this.#ask(name)
  }

  async #ask(name: string): Promise<KnownTool | undefined> {
    this.#listing ??= this.#listTools()
    const listing = this.#listing
    await listing.catch((error: Error) => {
      if (this.#listing === listing) this.#listing = undefined
      throw error
    })
    return this.#tools.get(name)
  }

  heldOf(tool: KnownTool): HeldTool | undefined {
    return this.#context.heldOf(tool)
  }

  /** The server said its tools have changed: what was known is asked for again. */
  forget(): void {
    this.#tools.clear()
    this.#listing = undefined
    this.#learntAtMs = this.#context.now().monotonicMs
  }

  /** The result of a list with what this caller may see; any other result as it is. */
  filter(method: string, resultText: string, factsNow: () => Omit<Facts, 'tool'>): string {
    const list = LISTS.get(method)
    if (list === undefined) return resultText
    const facts = factsNow()
    const { server, policy, now } = this.#context
    const members = membersOf(resultText)
    const entries = elementsOf(members.get(list.key) ?? '[]')
    const shown = entries.filter((text) => {
      const definition = JSON.parse(text) as JsonValue
      const name = isObject(definition) ? definition[list.name] : undefined
      if (typeof name !== 'string') return false
      const known = list.method === TOOL_CALL ? this.#learn(definition, text) : undefined
      if (known !== undefined && this.#context.leavesOut(known)) return false
      if (known !== undefined && this.heldOf(known) !== undefined) return false
      const tool = known === undefined ? { isListed: true } : { tool: known }
      const call = { server, name, method: list.method }
      return visible(policy(), call, { ...facts, ...tool }, now())
    })
    members.set(list.key, `[${shown.join(',')}]`)
    return writeMembers(members)
  }

  async #listTools(): Promise<void> {
    let cursor: string | undefined
    for (let page = 0; page < LIST_PAGES_MAX; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const { result, error } = await this.#context.ask('tools/list', params)
      if (result === undefined) throw new Error(`the server lists no tools: ${error?.message}`)
      const members = membersOf(result)
      for (const text of elementsOf(members.get('tools') ?? '[]')) {
        const definition = JSON.parse(text) as JsonValue
        if (isObject(definition) && typeof definition.name === 'string')
          this.#learn(definition, text)
      }
      const next: unknown = JSON.parse(members.get('nextCursor') ?? 'null')
      if (typeof next !== 'string') return
      cursor = next
    }
  }

  /** `text` is the definition as the server wrote it. */
  #learn(definition: JsonValue, text: string): KnownTool {
    const { server, known } = this.#context
    const tool = known.accept(server, definition as unknown as ToolDefinition, text)
    if (this.#tools.size === 0) this.#learntAtMs = this.#context.now().monotonicMs
    if (!this.#context.leavesOut(tool)) this.#tools.set(tool.definition.name, tool)
    return tool
  }
}
