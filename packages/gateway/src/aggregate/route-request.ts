// Which server a request of a client of all servers is for, and how that server is asked: a tool or
// prompt by the name that was given out, a resource by who lists it, a task by the name before its
// id. Decides nothing: that server's relay judges what it gets.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { isObject } from '@sluice/policy/values/json'
import { editMember } from '@sluice/protocol/members'
import type { JsonRpcRequest, ParsedMembers } from '@sluice/protocol/message'
import { RELIST_MS } from '../shared/limits.ts'
import { parseRestUri } from '../shared/rest-uri.ts'
import type { AdvertisedNames } from './advertised-names.ts'
import type { AggregateMember } from './member.ts'
import type { MergedLists } from './merge-lists.ts'
import { paramsForServer, unqualifyTaskId, unqualifyUri, withMember } from './qualified-handles.ts'

export interface OwnedResource {
  readonly member: AggregateMember
  readonly uri: string
}

interface ServerRoute {
  readonly member: AggregateMember
  readonly params: ParsedMembers
}

/** The request of a name that no server has: the method and the name. */
interface MissingRoute {
  readonly member?: undefined
  readonly method: string
  readonly name: string
  /** Why it may exist all the same. */
  readonly doubt?: string
}

export type RouteResult = ServerRoute | MissingRoute

const TASKS = new Set(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'])
const RESOURCES = toWordSet(`
  resources/read resources/subscribe resources/unsubscribe resources/directory/read skills/get
`)
const NO_PARAMS: ParsedMembers = { value: {}, text: new Map() }

export class ServerRouter {
  readonly #members: ReadonlyMap<string, AggregateMember>
  readonly #lists: MergedLists
  readonly #log: (server: string, text: string) => void
  /** Servers of whose apps this session has read a page. */
  readonly #apps = new Set<string>()
  #relisting: Promise<void> | undefined
  #relistedMs = Number.NEGATIVE_INFINITY

  constructor(
    members: ReadonlyMap<string, AggregateMember>,
    lists: MergedLists,
    log: (server: string, text: string) => void,
  ) {
    this.#members = members
    this.#lists = lists
    this.#log = log
  }

  /** Undefined if the method is not one for one server. */
  find({
    method,
    params = NO_PARAMS,
  }: JsonRpcRequest): RouteResult | Promise<RouteResult> | undefined {
    const { tools, prompts } = this.#lists
    if (method === 'tools/call') return this.#byName(method, tools, 'tools/list', params)
    if (method === 'prompts/get') return this.#byName(method, prompts, 'prompts/list', params)
    if (RESOURCES.has(method)) return this.#byUri(method, params)
    if (TASKS.has(method)) return this.#byTask(method, params)
    return method === 'completion/complete' ? this.#byReference(params) : undefined
  }

  /** The one server that a resource can belong to, and how that server calls it. */
  async ownerOf(uri: string): Promise<OwnedResource | undefined> {
    const near = unqualifyUri(uri)
    const named = this.#members.get(near?.server ?? '')
    if (near !== undefined && named !== undefined) return { member: named, uri: near.uri }
    const member = this.#members.get((await this.#owner(uri)) ?? '')
    return member && { member, uri }
  }

  /** What was known of resources may no longer hold. */
  forgetResources(): void {
    this.#relistedMs = Number.NEGATIVE_INFINITY
  }

  #byName(
    method: string,
    names: AdvertisedNames,
    list: string,
    params: ParsedMembers,
  ): RouteResult | Promise<RouteResult> {
    const advertised = params.value.name as string
    const named = (): RouteResult | Promise<RouteResult> => {
      const meant = names.find(advertised)
      if (method === 'tools/call' && this.#members.get(meant?.server ?? '') === undefined)
        return this.#byAppName(advertised, params)
      const found = this.#route(meant?.server, params, { method, name: advertised })
      if (found.member === undefined || meant === undefined) return found
      return { ...found, params: withMember(found.params, 'name', meant.name) }
    }
    const member = this.#members.get(names.find(advertised)?.server ?? '')
    if (member === undefined || !names.mayBeShortened(advertised)) return named()
    // Nobody listed yet what the name is short for.
    return this.#lists.listOf(member, list).then(named)
  }

  /** Pages of apps call tools by the names that their server gave them. The gate cannot know which page calls: a
   * server can be meant if this session has read a page of it. */
  async #byAppName(name: string, params: ParsedMembers): Promise<RouteResult> {
    const none = { method: 'tools/call', name }
    const members = [...this.#apps].flatMap((server) => this.#members.get(server) ?? [])
    const { appTools } = this.#lists
    const unlisted = members.filter((member) => !appTools.has(member.name))
    await Promise.all(unlisted.map((member) => this.#lists.listOf(member, 'tools/list')))
    const [server, ...others] = members.flatMap((member) =>
      appTools.get(member.name)?.has(name) === true ? member.name : [],
    )
    if (others.length === 0) return this.#route(server, params, none)
    const names = [server, ...others].map((each) => `\`${each}__${name}\``)
    return { ...none, doubt: `several servers have it: ${names.join(', ')}` }
  }

  async #byUri(method: string, params: ParsedMembers): Promise<RouteResult> {
    const uri = params.value.uri as string
    const owned = await this.ownerOf(uri)
    if (owned !== undefined && method === 'resources/read' && uri.startsWith('ui://'))
      this.#apps.add(owned.member.name)
    const near =
      owned === undefined || owned.uri === uri ? params : withMember(params, 'uri', owned.uri)
    const none = { method, name: uri, ...toDoubt(this.#lists.resources.find(uri)) }
    return this.#route(owned?.member.name, near, none)
  }

  #byTask(method: string, params: ParsedMembers): RouteResult {
    const near = unqualifyTaskId(params.value.taskId)
    const route = this.#route(near?.server, params, { method, name: '' })
    if (route.member === undefined || near === undefined) return route
    return { ...route, params: withMember(route.params, 'taskId', near.taskId) }
  }

  async #byReference(params: ParsedMembers): Promise<RouteResult> {
    const { ref } = params.value
    const { type, name, uri } = isObject(ref) ? ref : {}
    if (type === 'ref/prompt' && typeof name === 'string') {
      const query = { value: { name }, text: new Map() }
      const found = await this.#byName('prompts/get', this.#lists.prompts, 'prompts/list', query)
      if (found.member === undefined) return found
      const own = JSON.stringify(found.params.value.name)
      const text = editMember(params.text.get('ref') as string, ['name'], () => own)
      return { ...found, params: withMember(params, 'ref', JSON.parse(text), text) }
    }
    const wanted = typeof uri === 'string' ? uri : ''
    const none = { method: 'resources/read', name: wanted }
    const templates = this.#lists.resources.findTemplate(wanted)
    if (templates.length === 1) return this.#route(templates[0], params, none)
    const owner = templates.length > 1 ? undefined : await this.#owner(wanted)
    const having = templates.length > 1 ? templates : this.#lists.resources.find(wanted)
    return this.#route(owner, params, { ...none, ...toDoubt(having) })
  }

  #route(server: string | undefined, params: ParsedMembers, none: MissingRoute): RouteResult {
    const member = this.#members.get(server ?? '')
    if (member === undefined) return none
    return { member, params: paramsForServer(member.name, params) }
  }

  async #owner(uri: string): Promise<string | undefined> {
    const ofRest = parseRestUri(uri)?.server
    if (ofRest !== undefined) return this.#members.get(ofRest) === undefined ? undefined : ofRest
    if (this.#lists.resources.find(uri).length === 0) await this.#relist()
    const [owner, ...others] = this.#lists.resources.find(uri)
    if (others.length === 0) return owner
    for (const server of [owner as string, ...others])
      this.#log(server, 'a resource that several servers have is nobody’s on the endpoint of all')
    return undefined
  }

  async #relist(): Promise<void> {
    if (this.#relisting === undefined && performance.now() - this.#relistedMs < RELIST_MS) return
    this.#relisting ??= this.#listResources().finally(() => {
      this.#relisting = undefined
      this.#relistedMs = performance.now()
    })
    await this.#relisting
  }

  async #listResources(): Promise<void> {
    const lists = ['resources/list', 'resources/templates/list', 'skills/list']
    const queries = [...this.#members.values()].flatMap((member) =>
      lists.map((method) => this.#lists.listOf(member, method)),
    )
    await Promise.all(queries)
  }
}

/** Why a resource that several servers have is nobody's here, and where it can be read. */
function toDoubt(servers: readonly string[]): Pick<MissingRoute, 'doubt'> {
  if (servers.length < 2) return {}
  const places = [...servers].sort().map((server) => `\`/mcp/${server}\``)
  return { doubt: `several servers have it: ask at ${places.join(' or ')}` }
}
