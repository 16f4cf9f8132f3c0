// The lists of one session with one server: what the server lists, and what of it this caller may
// see. A call to a tool nobody listed yet makes the gate ask the server itself, so that a call is
// never judged by a name alone. Definitions pass as the server wrote them, or not at all.

import type { Facts } from '@sluice/policy/calls/call'
import type { Instant } from '@sluice/policy/calls/clock'
import { CATEGORIES, isDefinition, type KnownTool } from '@sluice/policy/calls/tools'
import { foreseeAction, isVisible } from '@sluice/policy/decide/decide'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { isToolFor } from '@sluice/protocol/extensions'
import { NAME_LENGTH_MAX, URI_LENGTH_MAX } from '@sluice/protocol/json/limits'
import { splitElements, splitMembers } from '@sluice/protocol/json/raw-members'
import { LISTS, type ListKind } from '@sluice/protocol/lists'
import { writeMembers } from '@sluice/protocol/write-message'
import { enterStep } from '../shared/current-step.ts'
import { LIST_AT_ONCE_LENGTH_MAX, LIST_PAGES_MAX } from '../shared/limits.ts'
import { runInSlices, Slices } from '../shared/slices.ts'
import type { KnownTools } from '../tools/known-tools.ts'
import { isWithheld, type PendingDefinition } from '../tools/pins.ts'
import { AppPages } from './app-pages.ts'
import { KnownSkills, type SkillsContext } from './known-skills.ts'
import {
  ADVICE_NAMES_MAX,
  ADVICE_TOOLS_MAX,
  DEFINITION_LENGTH_MAX,
  LIST_AGE_MS,
  LIST_TIMES_MAX,
  LISTED_TOOLS_MAX,
} from './limits.ts'
import { type AskServer, listEntries } from './list-entries.ts'

/** A server chooses its names: one that could be read as a sentence is not repeated by the gate. */
const PLAIN_NAME = /^[\w.-]{1,64}$/
/** Entries of a list that are filtered by the same facts. */
const ENTRIES_OF_FACTS = 8
const WRITE = CATEGORIES.indexOf('Write')

export interface SeenListsContext {
  readonly server: string
  readonly known: KnownTools
  readonly policy: () => CompiledPolicy
  readonly now: () => Instant
  /** Why a definition may be neither shown nor called. */
  readonly pendingOf: (tool: KnownTool) => PendingDefinition | undefined
  /** It may neither be shown nor called, by what the protocol says of its definition. */
  readonly leavesOut: (tool: KnownTool) => boolean
  readonly ask: AskServer
  readonly pins: SkillsContext['pins']
  /** Something was left out of a list, by a limit. */
  readonly onLimit: (why: string) => void
  /** How long definitions hold where no server tells of changes; undefined if it does. */
  readonly freshMs?: number | undefined
}

export class VisibleLists {
  readonly skills: KnownSkills
  readonly pages: AppPages
  readonly #context: SeenListsContext
  readonly #tools = new Map<string, KnownTool>()
  #listing: Promise<void> | undefined
  #learntAtMs = Number.POSITIVE_INFINITY
  /** Grows when what was known is forgotten: a list that is being read then is of before. */
  #generation = 0
  #leftOut: string | undefined

  constructor(context: SeenListsContext) {
    this.#context = context
    this.skills = new KnownSkills(context)
    this.pages = new AppPages(context)
  }

  /** Why tools of this server may be missing: a limit was met. */
  get leftOut(): string | undefined {
    return this.#leftOut
  }

  /** A promise only if the server has to be asked; rejects if it does not say what tools it
   * has. */
  find(name: string): KnownTool | Promise<KnownTool | undefined> {
    const { freshMs = LIST_AGE_MS, now } = this.#context
    if (now().monotonicMs - this.#learntAtMs > freshMs) this.forget()
    return this.#tools.get(name) ?? this.#ask(name)
  }

  async #ask(name: string): Promise<KnownTool | undefined> {
    for (let times = 1; ; times++) {
      const generation = this.#generation
      this.#listing ??= this.#listTools()
      const listing = this.#listing
      await listing.catch((error: Error) => {
        if (this.#listing === listing) this.#listing = undefined
        throw error
      })
      // The tools changed while they were listed: what was read is of before.
      const isOld = generation !== this.#generation && times < LIST_TIMES_MAX
      if (!isOld) return this.#tools.get(name)
    }
  }

  pendingOf(tool: KnownTool): PendingDefinition | undefined {
    return this.#context.pendingOf(tool)
  }

  #isPending(tool: KnownTool): boolean {
    return isWithheld(this.pendingOf(tool))
  }

  /** Tools of this server that the caller of a denied one sees and may call. */
  findAlternatives(facts: Facts): readonly string[] {
    const { server, policy, now, leavesOut } = this.#context
    if (facts.tool === undefined) return []
    return pickAlternatives(facts.tool, this.#tools.values(), (tool) => {
      const isForModel = isToolFor('model', tool.definition)
      if (!isForModel || leavesOut(tool) || this.#isPending(tool)) return false
      const target = { server, name: tool.definition.name, method: TOOL_CALL }
      return foreseeAction(policy(), target, { ...facts, tool }, now()) === 'allow'
    })
  }

  /** The server said its tools have changed: what was known is asked for again. */
  forget(): void {
    this.#tools.clear()
    this.#listing = undefined
    this.#leftOut = undefined
    this.#generation++
    this.#learntAtMs = this.#context.now().monotonicMs
  }

  /** The result of a list with what this caller may see; any other result as it is. A promise where
   * the list is long: it is looked through in slices, and others are served meanwhile. */
  filter(
    method: string,
    resultText: string,
    factsNow: () => Omit<Facts, 'tool'>,
  ): string | Promise<string> {
    const list = LISTS.get(method)
    if (list === undefined || method === 'tasks/list') return resultText
    const steps = this.#filterSteps(list, resultText, factsNow)
    return resultText.length > LIST_AT_ONCE_LENGTH_MAX
      ? runInSlices(steps, 'list')
      : runSteps(steps)
  }

  *#filterSteps(
    list: ListKind,
    resultText: string,
    factsNow: () => Omit<Facts, 'tool'>,
  ): Steps<string> {
    const generation = this.#generation
    yield
    const members = splitMembers(resultText)
    const shown: string[] = []
    let facts = factsNow()
    let since = 0
    for (const text of splitElements(members.get(list.key) ?? '[]')) {
      yield
      if (++since % ENTRIES_OF_FACTS === 0) facts = factsNow()
      const entry = this.#show(list, text, facts, generation)
      if (entry !== undefined) shown.push(entry)
    }
    yield
    members.set(list.key, `[${shown.join(',')}]`)
    // Another caller may see other entries, whatever the server says of its own list.
    if (members.has('cacheScope')) members.set('cacheScope', '"private"')
    return writeMembers(members)
  }

  /** The entry as this caller may see it; undefined if it may not. */
  #show(
    list: ListKind,
    text: string,
    facts: Omit<Facts, 'tool'>,
    generation: number,
  ): string | undefined {
    const { server, policy, now } = this.#context
    const definition = this.#readText(text)
    const name = isObject(definition) ? definition[list.name] : undefined
    if (!isObject(definition) || typeof name !== 'string' || this.#isTooLong(name)) return undefined
    const call = { server, name, method: list.method }
    if (list.key === 'skills')
      return this.skills.isShown(definition, text, facts) ? text : undefined
    if (list.method !== TOOL_CALL) {
      const isShown = isVisible(policy(), call, { ...facts, isListed: true }, now())
      return isShown && !this.skills.isPending(name) ? this.pages.narrow(name, text) : undefined
    }
    const tool = this.#learn(definition, text, generation)
    if (tool === undefined || this.#context.leavesOut(tool) || this.#isPending(tool))
      return undefined
    if (!isVisible(policy(), call, { ...facts, tool }, now())) return undefined
    return this.pages.withoutWithheld(definition, text, facts)
  }

  /** Judges every tool, and not only the one that is called: what a server lists together is accepted together, or a
   * tool that is called later would be a copy of the first. */
  async #listTools(): Promise<void> {
    const slices = new Slices()
    const generation = this.#generation
    const stop = () => this.#leaveOut(`its tools have more than ${LIST_PAGES_MAX} pages`)
    for await (const text of listEntries(this.#context.ask, 'tools/list', stop)) {
      if (slices.isOver) await slices.next()
      enterStep('list')
      const definition = this.#readText(text)
      const name = isObject(definition) ? definition.name : undefined
      if (typeof name !== 'string' || this.#isTooLong(name)) continue
      const tool = this.#learn(definition as JsonObject, text, generation)
      if (tool !== undefined && !this.#context.leavesOut(tool)) this.pendingOf(tool)
    }
  }

  /** Undefined if it is too long to be looked at. */
  #readText(text: string): JsonValue | undefined {
    if (text.length <= DEFINITION_LENGTH_MAX) return JSON.parse(text) as JsonValue
    const long = `${text.length} characters, at most ${DEFINITION_LENGTH_MAX} are read`
    this.#leaveOut(`a definition has ${long}`)
    return undefined
  }

  #isTooLong(name: string): boolean {
    if (name.length <= URI_LENGTH_MAX) return false
    const long = `${name.length} characters, at most ${URI_LENGTH_MAX} are read`
    this.#leaveOut(`a name has ${long}`)
    return true
  }

  /** `text` is the definition as the server wrote it. Undefined if a limit leaves it out. */
  #learn(definition: JsonObject, text: string, generation: number): KnownTool | undefined {
    const { server, known } = this.#context
    const whole = { ...definition, server }
    if (!isDefinition(whole)) return undefined
    const { name } = whole
    if (name.length > NAME_LENGTH_MAX) {
      this.#leaveOut(`the name of a tool has more than ${NAME_LENGTH_MAX} characters`)
      return undefined
    }
    if (this.#tools.size >= LISTED_TOOLS_MAX && !this.#tools.has(name)) {
      this.#leaveOut(`it lists more than ${LISTED_TOOLS_MAX} tools`)
      return undefined
    }
    const tool = known.accept(server, whole, text)
    if (generation !== this.#generation) return tool
    if (this.#tools.size === 0) this.#learntAtMs = this.#context.now().monotonicMs
    if (!this.#context.leavesOut(tool)) this.#tools.set(name, tool)
    return tool
  }

  #leaveOut(why: string): void {
    if (this.#leftOut === why) return
    this.#leftOut = why
    this.#context.onLimit(why)
  }
}

/** Most similar first. */
function pickAlternatives(
  denied: KnownTool,
  tools: Iterable<KnownTool>,
  mayCall: (tool: KnownTool) => boolean,
): readonly string[] {
  const wanted = new Set(splitWords(denied.definition.name))
  const rankMax = Math.max(0, Math.min(rankOf(denied) - 1, WRITE))
  let compared = 0
  const ranked: { readonly tool: KnownTool; readonly shared: number }[] = []
  for (const tool of tools) {
    if (++compared > ADVICE_TOOLS_MAX) break
    const { name } = tool.definition
    if (name === denied.definition.name || rankOf(tool) > rankMax || !PLAIN_NAME.test(name))
      continue
    const shared = splitWords(name).filter((word) => wanted.has(word)).length
    if (shared > 0) ranked.push({ tool, shared })
  }
  ranked.sort((one, other) => other.shared - one.shared || rankOf(one.tool) - rankOf(other.tool))
  const names: string[] = []
  for (const { tool } of ranked) {
    if (names.length === ADVICE_NAMES_MAX) break
    if (mayCall(tool)) names.push(tool.definition.name)
  }
  return names
}

function rankOf({ category }: KnownTool): number {
  return CATEGORIES.indexOf(category)
}

function splitWords(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.filter((word) => word.length > 2).map((word) => word.replace(/s$/, ''))
}
