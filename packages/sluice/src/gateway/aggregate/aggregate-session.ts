// A client of all servers at once: one conversation of its own with each of them, put together. It
// carries and renames; what is judged, counted and recorded is judged by the relay of the server it
// is for, as if the client had asked there. Made by the gate for `/mcp` and for pipes that name no
// server; in the era of its client.

import { TOOL_CALL } from '@sluice/policy/language/methods'
import { membersOf } from '../../protocol/json/raw-members.ts'
import { withMembers } from '../../protocol/members.ts'
import type { Answer, Id, Members, Message, Notification, Request } from '../../protocol/message.ts'
import { belongsTo, knowsTasks, META } from '../../protocol/protocol-generation.ts'
import { settledRevision } from '../../protocol/revisions.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import { writeMembers, writeResult } from '../../protocol/write-message.ts'
import { writeAnswer } from '../call/pending-requests.ts'
import { noTasksAnswer, renameUnknown, unknownAnswer } from '../call/replies.ts'
import { dressed } from '../session/stateless-results.ts'
import { errorAnswer, type Told } from '../shared/error-reply.ts'
import { ALL_LISTENS_MAX, MEMBER_WAIT_MS_MAX, SESSION_REQUESTS_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import type { ClientLink, Related } from '../shared/transport.ts'
import { within } from '../shared/with-timeout.ts'
import { Member } from './member.ts'
import { MergedLists } from './merge-lists.ts'
import { begunSession, discovered, mergeBegun } from './merge-profiles.ts'
import { resultForClient, withMember } from './qualified-handles.ts'
import { type Found, ServerFinder } from './route-request.ts'
import { type Open, read, ServerTalk } from './server-messages.ts'
import { AllListens } from './subscriptions.ts'

export interface AllServersContext {
  readonly servers: readonly string[]
  /** Puts the gate between the link and a server. */
  readonly open: (server: string, link: ClientLink) => void
  readonly onEnd: () => void
  /** Something of a server's was left out of a list, by a limit. */
  readonly onLimit: (server: string, why: string) => void
  readonly log: Log
}

const LISTING = ['tools', 'prompts', 'resources']
const INITIALIZED = 'notifications/initialized'
const NO_PARAMS: Members = { value: {}, text: new Map() }

export class AllServers {
  readonly #client: ClientLink
  readonly #context: AllServersContext
  readonly #members: ReadonlyMap<string, Member>
  readonly #lists: MergedLists
  readonly #finder: ServerFinder
  readonly #listens: AllListens
  readonly #talk: ServerTalk
  readonly #open = new Map<Id, Open>()
  /** Servers that wait for the client to read, by the request they answer. */
  readonly #pressing = new Map<Id, Member>()
  /** Servers that were waited for in vain since they were last there. */
  readonly #waitedFor = new Set<Member>()
  /** What every server is begun with. */
  #hello: Members | undefined
  #initialized: Notification | undefined
  /** From `initialize` until it is answered. */
  #beginning: Promise<void> | undefined
  #level: Members | undefined
  #closed = false

  constructor(client: ClientLink, context: AllServersContext) {
    this.#client = client
    this.#context = context
    this.#members = new Map(context.servers.map((name) => [name, this.#member(name)]))
    const log = (server: string, text: string) => this.#log(text, server)
    const members = () => this.#members.values()
    const onLate = (list: string) => this.#talk.listChanged(list)
    this.#lists = new MergedLists({ members, onLate, onLimit: context.onLimit, log })
    this.#finder = new ServerFinder(this.#members, this.#lists, log)
    const onResources = () => this.#finder.forgetResources()
    this.#listens = new AllListens({
      members,
      ownerOf: (uri) => this.#finder.ownerOf(uri),
      send: (listen, text) => client.send(text, { request: listen }),
      onResources,
    })
    this.#talk = new ServerTalk({
      ...{ client, members: this.#members, open: this.#open, listens: this.#listens, onResources },
      log: (text, server) => this.#log(text, server),
    })
    client.onMessage = (message, related) =>
      void this.#guard(() => this.#fromClient(message, related))
    client.onClose = (why) => this.#end(why)
    client.onPressure = (isFull, request) => this.#pressed(isFull, request)
  }

  #member(name: string): Member {
    const member: Member = new Member({
      name,
      era: this.#client.era,
      open: (link) => this.#context.open(name, link),
      hello: () => this.#hello ?? NO_PARAMS,
      onBegun: () => this.#memberBegun(member),
      onGone: (why, wasThere) => {
        this.#log(`it is not there for a client of all servers: ${why}`, name)
        if (wasThere && !this.#closed)
          for (const kind of LISTING) this.#talk.listChanged(`${kind}/list`)
      },
      onAnswer: (request, told) => this.#answered(member, request, told),
      onTold: (text, related) => this.#talk.told(member, text, related),
      onDrop: (request) => this.#drop(request),
      onSuspend: (request) => this.#client.suspend?.(request),
      onHeld: (request) => this.#client.held?.(request),
    })
    return member
  }

  /** Whoever answers the request waits, or everybody where the client has one stream for all. */
  #pressed(isFull: boolean, request: Id | undefined): void {
    if (request === undefined) {
      for (const member of this.#members.values()) member.pressed(isFull, undefined)
      return
    }
    const member = isFull ? this.#open.get(request)?.member : this.#pressing.get(request)
    if (isFull && member !== undefined) this.#pressing.set(request, member)
    else this.#pressing.delete(request)
    member?.pressed(isFull, request)
  }

  #end(why: string): void {
    if (this.#closed) return
    this.#closed = true
    for (const member of this.#members.values()) member.end(why)
    this.#context.onEnd()
  }

  /** A message that the gate trips over ends this session, and no other. */
  async #guard(step: () => void | Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.#client.close(`the gate could not handle a message: ${(error as Error).message}`)
    }
  }

  #fromClient(message: Message, related: Related | undefined): void | Promise<void> {
    if (message.kind === 'request') return this.#clientRequest(message, related)
    if (message.kind === 'notification') return this.#clientNotification(message)
    this.#talk.answer(message)
  }

  #clientRequest(request: Request, related: Related | undefined): void | Promise<void> {
    const { id, method, params } = request
    const { era, revision } = this.#client
    const refused = this.#open.has(id)
      ? 'a request with this id is still open'
      : this.#open.size >= SESSION_REQUESTS_MAX
        ? `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
        : undefined
    if (refused !== undefined) return this.#send(id, errorAnswer(id, RPC.invalidRequest, refused))
    const open: Open = { method }
    this.#open.set(id, open)
    const unknown = () =>
      this.#refuse(id, RPC.methodNotFound, `\`${method}\` is not a method the gate knows`)
    if (!belongsTo(era, method)) return unknown()
    if (era === 'stateless') {
      this.#hello = helloOf(params)
      if (method.startsWith('tasks/') && !knowsTasks(params))
        return this.#answer(id, noTasksAnswer(id, method))
    }
    if (method === 'ping') return this.#answer(id, { text: writeResult(id, '{}') })
    if (method === 'initialize') {
      const begun = this.#initialize(request)
      this.#beginning ??= begun
      return begun
    }
    if (era === 'session' && revision === '') {
      if (this.#beginning === undefined)
        return this.#refuse(id, RPC.invalidRequest, 'the session has not begun: send `initialize`')
      // Sent right behind `initialize`: it waits for that, unless it is cancelled meanwhile.
      return this.#beginning.then(() =>
        this.#open.delete(id) ? this.#clientRequest(request, related) : undefined,
      )
    }
    if (method === 'server/discover') return this.#discover(id)
    if (method === 'subscriptions/listen') return this.#listen(request)
    if (MergedLists.has(method)) return this.#list(request)
    if (method === 'logging/setLevel') return this.#setLevel(request)
    const found = this.#finder.find(request)
    if (found === undefined) return unknown()
    const carry = (later: Found) => this.#carry(request, open, later, related)
    return found instanceof Promise ? found.then(carry) : carry(found)
  }

  async #initialize({ id, params = NO_PARAMS }: Request): Promise<void> {
    if (this.#hello !== undefined)
      return this.#refuse(id, RPC.invalidRequest, 'the session has begun already')
    const revision = settledRevision(params.value.protocolVersion)
    this.#hello = withMember(params, 'protocolVersion', revision)
    await Promise.all([...this.#members.values()].map(wait))
    this.#client.revision = revision
    this.#answer(id, { text: writeResult(id, begunSession(this.#begun(), revision)) })
  }

  async #discover(id: Id): Promise<void> {
    await this.#waitForAll()
    this.#answer(id, { text: writeResult(id, discovered(this.#begun())) })
  }

  #begun(): ReturnType<typeof mergeBegun> {
    const servers = [...this.#members.values()]
    const there = servers.flatMap(({ name, begun }) => (begun ? [{ ...begun, name }] : []))
    const missing = servers.flatMap(({ name, begun }) => (begun ? [] : [name]))
    return mergeBegun(there, missing)
  }

  /** Who was waited for in vain comes when it comes, and the client hears of it. */
  async #waitForAll(): Promise<void> {
    const missing = [...this.#members.values()].filter(({ begun }) => begun === undefined)
    const waiting = missing.map((member) => {
      const there = wait(member)
      if (this.#waitedFor.has(member)) return undefined
      this.#waitedFor.add(member)
      return there
    })
    await Promise.all(waiting)
  }

  async #list({ id, method, params }: Request): Promise<void> {
    this.#talk.listed(method)
    await this.#waitForAll()
    try {
      const list = await this.#lists.list(method, params?.value.cursor)
      const result = this.#client.era === 'stateless' ? dressed(method, list) : list
      this.#answer(id, { text: writeResult(id, result) })
    } catch (error) {
      this.#refuse(id, RPC.invalidParams, (error as Error).message)
    }
  }

  async #listen({ id, params }: Request): Promise<void> {
    if (this.#listens.size >= ALL_LISTENS_MAX)
      return this.#refuse(id, RPC.internal, `more than ${ALL_LISTENS_MAX} subscriptions are open`)
    await this.#waitForAll()
    await this.#listens.open(id, params?.value.notifications, () => this.#open.has(id))
  }

  /** Every server that has a log, also one that comes later. */
  async #setLevel({ id, method, params = NO_PARAMS }: Request): Promise<void> {
    this.#level = params
    const asked = [...this.#members.values()].filter((member) => member.has('logging'))
    const failed = (error: Error) => ({ error: { code: RPC.internal, message: error.message } })
    const answers = await Promise.all(
      asked.map((member) => member.ask(method, params).catch(failed)),
    )
    const [first] = answers
    if (first?.error === undefined || answers.some(({ error }) => error === undefined))
      return this.#answer(id, { text: writeResult(id, '{}') })
    this.#refuse(id, first.error.code, first.error.message)
  }

  #carry(
    request: Request,
    open: Open,
    route: Found,
    related: Related | undefined,
  ): void | Promise<void> {
    const { id } = request
    if (route.member === undefined)
      return this.#answer(id, unknownAnswer(id, route.method, route.name, this.#client.era))
    const { member, params } = route
    open.given = String(request.params?.value.name)
    open.own = String(params.value.name)
    const pass = () => this.#pass({ ...request, params }, open, member, related)
    return member.begun === undefined ? wait(member).then(pass) : pass()
  }

  #pass(request: Request, open: Open, member: Member, related: Related | undefined): void {
    const { id, method } = request
    // It was cancelled on the way.
    if (this.#open.get(id) !== open) return
    const isCall = method === TOOL_CALL && this.#client.era === 'session'
    const lost = isCall && member.begun ? member.takeLoss() : undefined
    const again = 'it was begun anew, and what it kept for this session is gone: call again'
    if (lost !== undefined) return this.#notSent(id, `the server ended (${lost}); ${again}`)
    open.member = member
    if (!member.pass(request, related))
      this.#notSent(id, `the server \`${member.name}\` is not there: ${member.why}`)
  }

  #clientNotification(notification: Notification): void {
    const { method } = notification
    if (method === 'notifications/cancelled') return this.#cancel(notification)
    if (method === 'notifications/progress') return this.#talk.progress(notification)
    if (method === INITIALIZED) this.#initialized ??= notification
    if (method === INITIALIZED || method === 'notifications/roots/list_changed')
      for (const member of this.#members.values()) member.pass(notification)
    else this.#log(`a notification that does not pass: ${method}`)
  }

  #cancel(notification: Notification): void {
    const id = notification.params?.value.requestId as Id
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#listens.close(id)
    if (open.member === undefined) this.#drop(id)
    else open.member.pass(notification)
  }

  #memberBegun(member: Member): void {
    this.#waitedFor.delete(member)
    if (this.#initialized !== undefined) member.pass(this.#initialized)
    if (this.#level !== undefined && member.has('logging'))
      void member.ask('logging/setLevel', this.#level).catch(() => {})
    this.#listens.extend(member)
    for (const kind of LISTING) if (member.has(kind)) this.#talk.listChanged(`${kind}/list`)
  }

  #answered(member: Member, id: Id, told: Told): void {
    const open = this.#open.get(id)
    if (open?.member !== member) return this.#log(`an answer nobody waits for: id ${id}`)
    const { given, own, method } = open
    const { era } = this.#client
    // Under the name it was asked by: else a hidden name would not be answered as an unknown one.
    const unknown =
      given !== undefined && own !== undefined
        ? renameUnknown(told, { id, method, era }, { from: own, to: given })
        : undefined
    if (unknown !== undefined) return this.#answer(id, unknown)
    if (!told.text.includes('taskId')) return this.#answer(id, told)
    const [answer] = read(told.text) as [Answer]
    if (answer.result === undefined) return this.#answer(id, told)
    const result = resultForClient(member.name, method, answer.result, era)
    this.#answer(id, { text: writeAnswer(id, { ...answer, result }) })
  }

  /** Not where nobody waits any more. */
  #answer(id: Id, told: Told): void {
    if (this.#open.delete(id)) this.#send(id, told)
  }

  #send(id: Id, { text, errorCode }: Told): void {
    const error = errorCode === undefined ? {} : { errorCode }
    this.#client.send(text, { request: id, answers: true, ...error })
  }

  #refuse(id: Id, code: number, text: string): void {
    this.#answer(id, errorAnswer(id, code, text))
  }

  #notSent(id: Id, text: string): void {
    const data = { 'sluice/upstream': { code: 'UPSTREAM_UNREACHABLE', repeatable: true } }
    this.#answer(id, errorAnswer(id, RPC.internal, `${text}; nothing was sent`, data))
  }

  #drop(id: Id): void {
    if (this.#open.delete(id)) this.#client.drop(id)
  }

  #log(text: string, server?: string): void {
    this.#context.log('warn', text, server === undefined ? {} : { server })
  }
}

/** Until it is there, or for a while. */
async function wait(member: Member): Promise<void> {
  await within(
    member.begin().catch(() => undefined),
    MEMBER_WAIT_MS_MAX,
  )
}

/** What a client of the stateless era says of itself with every request. */
function helloOf(params: Members | undefined): Members {
  const meta = membersOf(params?.text.get('_meta') ?? '{}')
  const said = [META.version, META.client, META.capabilities].flatMap((key) => {
    const text = meta.get(key)
    return text === undefined ? [] : [[key, text] as const]
  })
  return withMembers(undefined, { _meta: writeMembers(new Map(said)) })
}
