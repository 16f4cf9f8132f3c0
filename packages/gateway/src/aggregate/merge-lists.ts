// The lists of all servers as one: each server is asked for all pages, through the relay, so that
// only what the caller may see is in them. Definitions pass as the server wrote them but for the
// name. A server that does not answer in time is left out, and the client hears when it has.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { isToolFor } from '@sluice/protocol/extensions'
import { splitElements, splitMembers } from '@sluice/protocol/json/raw-members'
import { LISTS, type ListKind } from '@sluice/protocol/lists'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { writeMembers } from '@sluice/protocol/write-message'
import { membersFrom } from '../front/sessions/member-transport.ts'
import { LIST_AGE_MS } from '../session/limits.ts'
import { enterStep } from '../shared/current-step.ts'
import {
  ENTRIES_AT_ONCE_MAX,
  LIST_AT_ONCE_LENGTH_MAX,
  LIST_PAGES_MAX,
  MEMBER_LIST_LENGTH_MAX,
  MEMBER_WAIT_MS_MAX,
  MERGED_PAGE_LENGTH_MAX,
  TOOLS_FRESH_MS,
} from '../shared/limits.ts'
import { type ListPage, listPages } from '../shared/list-pages.ts'
import { Slices } from '../shared/slices.ts'
import type { View } from '../shared/view.ts'
import { withTimeout } from '../shared/with-timeout.ts'
import { AdvertisedNames } from './advertised-names.ts'
import type { AggregateMember } from './member.ts'
import { qualifyTaskId, qualifyUri, skillForClient, toolForClient } from './qualified-handles.ts'
import { ResourceRoutes } from './resource-routes.ts'

export interface MergedListsContext {
  readonly members: () => Iterable<AggregateMember>
  readonly generation: ProtocolGeneration
  /** What the client is listed of the tools; undefined for all of them. */
  readonly view?: (() => View | undefined) | undefined
  /** The server of the mode `code`, whose tool is listed whatever the view says. */
  readonly codeServer?: string | undefined
  /** A server of the view has listed its tools. */
  readonly onTools?: ((server: string) => void) | undefined
  /** A server that was left out of a list has answered. */
  readonly onLate: (method: string) => void
  readonly onLimit: (server: string, why: string) => void
  readonly log: (server: string, text: string) => void
}

/** The tools that a server has listed for this client, until something says that they are others. */
interface RecentTools {
  /** Undefined until it has listed them. */
  entries?: readonly string[]
  listedMs: number
}

/** Lists in which entries of several servers may mean the same. */
const SHARED: ReadonlyMap<string, 'uris' | 'templates'> = new Map([
  ['resources/list', 'uris'],
  ['resources/templates/list', 'templates'],
])

export class MergedLists {
  readonly tools: AdvertisedNames
  readonly prompts = new AdvertisedNames()
  readonly resources = new ResourceRoutes()
  /** The tools of each server that its app may call. */
  readonly appTools = new Map<string, ReadonlySet<string>>()
  readonly #context: MergedListsContext
  /** Servers that were waited for in vain and still have to answer: not waited for again. */
  readonly #late = new Set<string>()
  readonly #recent = new WeakMap<AggregateMember, RecentTools>()

  constructor(context: MergedListsContext) {
    this.#context = context
    this.tools = new AdvertisedNames(context.view)
  }

  /** The text of a page. Throws if the page does not exist. */
  async list(method: string, cursor: unknown): Promise<string> {
    const from = cursor === undefined ? 0 : offsetOf(method, cursor)
    const { key } = LISTS.get(method) as ListKind
    const lists = await Promise.all(
      [...this.#context.members()].map((member) => this.listOf(member, method)),
    )
    const entries = this.#omitUnreadable(method, lists.flat())
    if (from === undefined || from > entries.length)
      throw new Error('there is no page of this cursor: list from the beginning')
    let length = 0
    let to = from
    while (to < entries.length && (to === from || length < MERGED_PAGE_LENGTH_MAX))
      length += (entries[to++] as string).length
    const next = to < entries.length ? `,"nextCursor":${JSON.stringify(cursorFor(method, to))}` : ''
    return `{"${key}":[${entries.slice(from, to).join(',')}]${next}}`
  }

  /** Resources that several servers list can be read from none of them here. */
  #omitUnreadable(method: string, entries: readonly string[]): readonly string[] {
    const shared = SHARED.has(method)
      ? this.resources.listShared(SHARED.get(method) ?? 'uris')
      : undefined
    if (shared === undefined || shared.size === 0) return entries
    const { name } = LISTS.get(method) as ListKind
    return entries.filter((text) => !shared.has(String((JSON.parse(text) as JsonObject)[name])))
  }

  /** The tools that a server has listed lately; it is asked only if there are none. They hold as long as definitions do
   * for calls: until the server says that they changed or the gate changes what the caller may see, and no longer than
   * the age that bounds both. */
  async recentTools(member: AggregateMember): Promise<readonly string[]> {
    const { entries, listedMs = 0 } = this.#recent.get(member) ?? {}
    const ageMs = this.#context.generation === 'session' ? LIST_AGE_MS : TOOLS_FRESH_MS
    if (entries !== undefined && performance.now() - listedMs < ageMs) return entries
    return this.listOf(member, 'tools/list')
  }

  forgetTools(member: AggregateMember): void {
    this.#recent.delete(member)
  }

  /** Never rejects: what a server does not list in time is missing. */
  async listOf(member: AggregateMember, method: string): Promise<readonly string[]> {
    const mark = `${member.name} ${method}`
    if (!member.has((LISTS.get(method) as ListKind).capability) || this.#late.has(mark)) return []
    const reading = this.#readList(member, method).catch((error: Error) => {
      this.#context.log(member.name, `its ${method} is missing: ${error.message}`)
      return []
    })
    const entries = await withTimeout(reading, MEMBER_WAIT_MS_MAX)
    if (entries !== undefined) return entries
    this.#late.add(mark)
    this.#context.log(member.name, `its ${method} is missing: it takes its time`)
    void reading.then(() => {
      this.#late.delete(mark)
      this.#context.onLate(method)
    })
    return []
  }

  /** All pages of one server, with the names that the client is given. */
  async #readList(member: AggregateMember, method: string): Promise<string[]> {
    const { key, name } = LISTS.get(method) as ListKind
    const slices = new Slices()
    const entries: { text: string; name: string }[] = []
    const appTools = new Set<string>()
    const { name: server } = member
    const { codeServer } = this.#context
    const isViewed = method === 'tools/list' && server !== codeServer
    const view = isViewed ? this.#context.view?.() : undefined
    const recent: RecentTools = { listedMs: performance.now() }
    if (method === 'tools/list') this.#recent.set(member, recent)
    let isLong = false
    for await (const { members, length } of this.#pages(member, method)) {
      isLong ||= length > LIST_AT_ONCE_LENGTH_MAX || entries.length > ENTRIES_AT_ONCE_MAX
      for (const text of splitElements(members.get(key) ?? '[]')) {
        if (isLong && slices.isOver) await slices.next()
        enterStep('merge')
        const entry: unknown = JSON.parse(text)
        const named = isObject(entry) ? entry[name] : undefined
        if (typeof named !== 'string') continue
        if (view?.lists(server, named) !== false) entries.push({ text, name: named })
        if (isToolFor('app', entry as JsonValue)) appTools.add(named)
      }
    }
    if (method === 'tools/list') this.appTools.set(server, appTools)
    if (view !== undefined) this.#context.onTools?.(server)
    const names = entries.map((entry) => entry.name)
    const advertised = this.#advertise(server, method, names)
    const listed: string[] = []
    for (const [at, { text }] of entries.entries()) {
      if (isLong && slices.isOver) await slices.next()
      enterStep('merge')
      const known = advertised[at]
      if (known === undefined)
        this.#context.log(server, 'two of its names are one when shortened: the first holds')
      else if (method === 'skills/list') listed.push(skillForClient(server, text))
      else
        listed.push(toolForClient(server, known === names[at] ? text : renamed(text, name, known)))
    }
    // Whatever was forgotten meanwhile is of another object.
    recent.entries = listed
    return listed
  }

  /** The pages of one server's list, up to the limits; a limit that is reached is reported. */
  async *#pages(member: AggregateMember, method: string): AsyncGenerator<ListPage> {
    const report = (count: string) =>
      this.#context.onLimit(member.name, `its ${method} has more than ${count}`)
    const ask = async (params: Record<string, string>) => {
      const { result, error } = await member.ask(method, membersFrom(params))
      if (result === undefined) throw new Error(error?.message)
      return result
    }
    let length = 0
    for await (const page of listPages(ask, () => report(`${LIST_PAGES_MAX} pages`))) {
      length += page.length
      if (length > MEMBER_LIST_LENGTH_MAX) return report(`${MEMBER_LIST_LENGTH_MAX} characters`)
      yield page
    }
  }

  #advertise(
    server: string,
    method: string,
    names: readonly string[],
  ): readonly (string | undefined)[] {
    if (method === 'tools/list') return this.tools.list(server, names)
    if (method === 'prompts/list') return this.prompts.list(server, names)
    if (method === 'tasks/list') return names.map((name) => qualifyTaskId(server, name))
    if (method === 'skills/list') this.resources.listSkills(server, names)
    else if (method === 'resources/list') this.resources.list(server, names)
    else this.resources.listTemplates(server, names)
    return names.map((name) => qualifyUri(server, name))
  }
}

function renamed(text: string, key: string, name: string): string {
  return writeMembers(splitMembers(text).set(key, JSON.stringify(name)))
}

function cursorFor(method: string, offset: number): string {
  return Buffer.from(`${method} ${offset}`).toString('base64url')
}

function offsetOf(method: string, cursor: unknown): number | undefined {
  if (typeof cursor !== 'string') return undefined
  const [of, offset = ''] = Buffer.from(cursor, 'base64url').toString().split(' ')
  return of === method && /^\d{1,9}$/.test(offset) ? Number(offset) : undefined
}
