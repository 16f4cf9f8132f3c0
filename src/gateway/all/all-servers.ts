// A client of all servers at once: one session of its own with each of them, put together. It carries
// and renames; what is judged, counted and recorded is judged by the relay of the server it is for,
// as if the client had asked there. Made by the gate for `/mcp` and for pipes that name no server.

import { isObject, type JsonValue } from '../../core/json.ts'
import { TOOL_CALL } from '../../policy/methods.ts'
import type { Answer, Id, Members, Message, Notification, Request } from '../../wire/message.ts'
import { readMessages } from '../../wire/read-message.ts'
import { settledRevision } from '../../wire/revisions.ts'
import { RPC } from '../../wire/rpc-codes.ts'
import { writeError, writeNotification, writeResult } from '../../wire/write-message.ts'
import { unknownAnswer } from '../answers.ts'
import { writeAnswer } from '../crossing.ts'
import { MEMBER_WAIT_MS_MAX, SESSION_REQUESTS_MAX } from '../limits.ts'
import type { ClientLink, Related } from '../link.ts'
import { ownVersion } from '../own-version.ts'
import type { Log } from '../upstream/upstream.ts'
import {
  answerForServer,
  nearHandle,
  notificationForClient,
  requestForClient,
  resultForClient,
  withMember,
} from './far-names.ts'
import { type Route, ServerFinder } from './find-server.ts'
import { Member } from './member.ts'
import { membersFrom } from './member-link.ts'
import { mergeBegun } from './merge-begun.ts'
import { MergedLists } from './merge-lists.ts'
import { within } from './within.ts'

export interface AllServersContext {
  readonly servers: readonly string[]
  /** Puts the gate between the link and a server; false where there is no room. */
  readonly open: (server: string, link: ClientLink) => boolean
  readonly onEnd: () => void
  readonly log: Log
}

/** A request of the client's without an answer yet. */
interface Open {
  readonly method: string
  readonly progressToken: JsonValue | undefined
  /** Who answers it, once that is known; the gate itself where nobody is. */
  member?: Member
  /** The name it was asked by, and the one its server knows. */
  given?: string
  own?: string
}

/** Lists, and how a client hears that one has changed. */
const CHANGED: Readonly<Record<string, string>> = {
  'tools/list': 'notifications/tools/list_changed',
  'prompts/list': 'notifications/prompts/list_changed',
  'resources/list': 'notifications/resources/list_changed',
  'resources/templates/list': 'notifications/resources/list_changed',
}
const CAPABILITIES = ['tools', 'prompts', 'resources']
const INITIALIZED = 'notifications/initialized'

export class AllServers {
  readonly #client: ClientLink
  readonly #context: AllServersContext
  readonly #members: ReadonlyMap<string, Member>
  readonly #lists: MergedLists
  readonly #finder: ServerFinder
  readonly #open = new Map<Id, Open>()
  /** Changes that the client was told of and has not looked at since. */
  readonly #changes = new Set<string>()
  /** Servers that a list has waited for in vain since they were last there. */
  readonly #waitedFor = new Set<Member>()
  #hello: Members | undefined
  #begun = false
  #initialized: Notification | undefined
  #level: Members | undefined
  #closed = false

  constructor(client: ClientLink, context: AllServersContext) {
    this.#client = client
    this.#context = context
    this.#members = new Map(context.servers.map((name) => [name, this.#member(name)]))
    const log = (server: string, text: string) => context.log('warn', text, { server })
    const onLate = (method: string) => this.#changed(CHANGED[method])
    this.#lists = new MergedLists({ members: () => this.#members.values(), onLate, log })
    this.#finder = new ServerFinder(this.#members, this.#lists, log)
    client.onMessage = (message) => void this.#guard(() => this.#fromClient(message))
    client.onClose = (why) => this.#end(why)
  }

  #member(name: string): Member {
    const member: Member = new Member({
      name,
      open: (link) => this.#context.open(name, link),
      hello: () => this.#hello as Members,
      onBegun: () => this.#memberBegun(member),
      onGone: (why, wasThere) => {
        this.#context.log('warn', `it is not there for a client of all servers: ${why}`, {
          server: name,
        })
        if (wasThere) for (const kind of CAPABILITIES) this.#changed(CHANGED[`${kind}/list`])
      },
      onAnswer: (request, text) => this.#answered(member, request, text),
      onTold: (text, related) => this.#told(member, text, related),
      onDrop: (request) => this.#drop(request),
    })
    return member
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

  #fromClient(message: Message): void | Promise<void> {
    if (message.kind === 'request') return this.#clientRequest(message)
    if (message.kind === 'notification') return this.#clientNotification(message)
    this.#clientAnswer(message)
  }

  #clientRequest(request: Request): void | Promise<void> {
    const { id, method, params } = request
    const refuse = (text: string) =>
      this.#client.send(writeError(id, RPC.invalidRequest, text), { request: id, answers: true })
    if (this.#open.has(id)) return void refuse('a request with this id is still open')
    if (this.#open.size >= SESSION_REQUESTS_MAX)
      return void refuse(`more than ${SESSION_REQUESTS_MAX} requests are open in this session`)
    const meta = params?.value._meta
    const open: Open = { method, progressToken: isObject(meta) ? meta.progressToken : undefined }
    this.#open.set(id, open)
    if (method === 'ping') return this.#answer(id, writeResult(id, '{}'))
    if (method === 'initialize') return this.#initialize(request)
    if (!this.#begun)
      return this.#refuse(id, RPC.invalidRequest, 'the session has not begun: send `initialize`')
    if (MergedLists.has(method)) return this.#list(request)
    if (method === 'logging/setLevel') return this.#setLevel(request)
    const found = this.#finder.find(request)
    if (found === undefined)
      return this.#refuse(id, RPC.methodNotFound, `\`${method}\` is not a method the gate knows`)
    if (found instanceof Promise) return found.then((later) => this.#carry(request, open, later))
    return this.#carry(request, open, found)
  }

  async #initialize({ id, params }: Request): Promise<void> {
    if (this.#hello !== undefined)
      return this.#refuse(id, RPC.invalidRequest, 'the session has begun already')
    const revision = settledRevision(params?.value.protocolVersion)
    this.#hello = withMember(params ?? membersFrom({}), 'protocolVersion', revision)
    await Promise.all([...this.#members.values()].map((member) => wait(member)))
    const servers = [...this.#members.values()]
    const there = servers.flatMap(({ name, begun }) =>
      begun === undefined ? [] : [{ ...begun, name }],
    )
    const missing = servers.flatMap(({ name, begun }) => (begun === undefined ? [name] : []))
    this.#client.revision = revision
    this.#begun = true
    this.#answer(id, writeResult(id, mergeBegun(there, missing, revision, ownVersion())))
  }

  async #list({ id, method, params }: Request): Promise<void> {
    this.#changes.delete(CHANGED[method] ?? '')
    const missing = [...this.#members.values()].filter(({ begun }) => begun === undefined)
    await Promise.all(
      missing.map((member) => {
        // Who was waited for in vain comes when it comes, and the client hears of it.
        const waiting = wait(member)
        if (this.#waitedFor.has(member)) return undefined
        this.#waitedFor.add(member)
        return waiting
      }),
    )
    try {
      this.#answer(id, writeResult(id, await this.#lists.list(method, params?.value.cursor)))
    } catch (error) {
      this.#refuse(id, RPC.invalidParams, (error as Error).message)
    }
  }

  /** Every server that has a log, also one that comes later. */
  async #setLevel({ id, method, params = membersFrom({}) }: Request): Promise<void> {
    this.#level = params
    const asked = [...this.#members.values()].filter((member) => member.has('logging'))
    const failed = (error: Error) => ({ error: { code: RPC.internal, message: error.message } })
    const answers = await Promise.all(
      asked.map((member) => member.ask(method, params).catch(failed)),
    )
    const [first] = answers
    if (first?.error === undefined || answers.some(({ error }) => error === undefined))
      return this.#answer(id, writeResult(id, '{}'))
    this.#refuse(id, first.error.code, first.error.message)
  }

  #carry(
    request: Request,
    open: Open,
    route: Route | { readonly member?: undefined; readonly method: string; readonly name: string },
  ): void | Promise<void> {
    const { id } = request
    if (route.member === undefined)
      return this.#answer(id, unknownAnswer(id, route.method, route.name, 'session').text)
    const { member, params } = route
    open.given = String(request.params?.value.name)
    open.own = String(params.value.name)
    const pass = () => this.#pass({ ...request, params }, open, member)
    return member.begun === undefined ? wait(member).then(pass) : pass()
  }

  #pass(request: Request, open: Open, member: Member): void {
    const { id, method } = request
    // It was cancelled on the way.
    if (this.#open.get(id) !== open) return
    const lost = member.begun && method === TOOL_CALL ? member.takeLoss() : undefined
    const again = 'it was begun anew, and what it kept for this session is gone: call again'
    if (lost !== undefined) return this.#notSent(id, `the server ended (${lost}); ${again}`)
    open.member = member
    if (!member.pass(request))
      this.#notSent(id, `the server \`${member.name}\` is not there: ${member.why}`)
  }

  #clientNotification(notification: Notification): void {
    const { method, params } = notification
    if (method === 'notifications/cancelled') return this.#cancel(notification)
    if (method === 'notifications/progress') return this.#clientProgress(notification)
    if (method === INITIALIZED) this.#initialized ??= notification
    if (method === INITIALIZED || method === 'notifications/roots/list_changed')
      for (const member of this.#members.values()) member.pass(notification)
    else this.#unasked(`a notification that does not pass: ${method}`, params?.value.server)
  }

  #cancel(notification: Notification): void {
    const id = notification.params?.value.requestId as Id
    const open = this.#open.get(id)
    if (open === undefined) return
    if (open.member === undefined) this.#drop(id)
    else open.member.pass(notification)
  }

  #clientProgress(notification: Notification): void {
    const { params } = notification
    const near = nearHandle(params?.value.progressToken)
    const member = this.#members.get(near?.server ?? '')
    if (params === undefined || near === undefined || member === undefined) return
    member.pass({ ...notification, params: withMember(params, 'progressToken', near.handle) })
  }

  #clientAnswer(answer: Answer): void {
    const near = nearHandle(answer.id)
    const member = this.#members.get(near?.server ?? '')
    if (near === undefined || member === undefined)
      return this.#unasked(`an answer nobody asked for: id ${answer.id}`)
    member.pass(answerForServer(member.name, near.handle, answer))
  }

  #memberBegun(member: Member): void {
    this.#waitedFor.delete(member)
    if (this.#initialized !== undefined) member.pass(this.#initialized)
    if (this.#level !== undefined && member.has('logging'))
      void member.ask('logging/setLevel', this.#level).catch(() => {})
    for (const kind of CAPABILITIES) if (member.has(kind)) this.#changed(CHANGED[`${kind}/list`])
  }

  #answered(member: Member, id: Id, text: string): void {
    const open = this.#open.get(id)
    if (open?.member !== member) return this.#unasked(`an answer nobody waits for: id ${id}`)
    const { given, own, method } = open
    // Under the name it was asked by: else a hidden name would not be answered as an unknown one.
    const unknown = (name: string) => unknownAnswer(id, method, name, 'session').text
    if (given !== undefined && own !== undefined && text === unknown(own))
      return this.#answer(id, unknown(given))
    if (!text.includes('taskId')) return this.#answer(id, text)
    const [answer] = read(text) as [Answer]
    if (answer.result === undefined) return this.#answer(id, text)
    const result = resultForClient(member.name, method, answer.result)
    this.#answer(id, writeAnswer(id, { ...answer, result }))
  }

  /** What a server says by itself. */
  #told(member: Member, text: string, related: Related): void {
    const [message] = read(text)
    if (message?.kind === 'request')
      return void this.#client.send(requestForClient(member.name, message), related)
    if (message?.kind !== 'notification') return
    const { method, params } = message
    if (method === 'notifications/resources/list_changed') this.#finder.forgetResources()
    if (Object.values(CHANGED).includes(method)) return this.#changed(method)
    if (method === 'notifications/progress' && this.#isOthers(member, params?.value.progressToken))
      return this.#unasked('progress of a call to another server', member.name)
    this.#client.send(notificationForClient(member.name, message), related)
  }

  #isOthers(member: Member, token: JsonValue | undefined): boolean {
    const opens = [...this.#open.values()].filter((open) => open.progressToken === token)
    return opens.length > 0 && !opens.some((open) => open.member === member)
  }

  /** Once, until the client lists again. */
  #changed(method: string | undefined): void {
    if (method === undefined || !this.#begun || this.#closed || this.#changes.has(method)) return
    this.#changes.add(method)
    this.#client.send(writeNotification(method, undefined))
  }

  /** Not where nobody waits any more. */
  #answer(id: Id, text: string): void {
    if (this.#open.delete(id)) this.#client.send(text, { request: id, answers: true })
  }

  #refuse(id: Id, code: number, text: string): void {
    this.#answer(id, writeError(id, code, text))
  }

  #notSent(id: Id, text: string): void {
    const data = { 'sluice/upstream': { code: 'UPSTREAM_UNREACHABLE', repeatable: true } }
    this.#answer(id, writeError(id, RPC.internal, `${text}; nothing was sent`, data))
  }

  #drop(id: Id): void {
    if (this.#open.delete(id)) this.#client.drop(id)
  }

  #unasked(text: string, server: JsonValue = ''): void {
    this.#context.log('warn', text, typeof server === 'string' && server !== '' ? { server } : {})
  }
}

/** Until it is there, or for a while. */
async function wait(member: Member): Promise<void> {
  await within(
    member.begin().catch(() => undefined),
    MEMBER_WAIT_MS_MAX,
  )
}

/** The relay wrote it. */
function read(text: string): readonly Message[] {
  const reading = readMessages(text, { batches: false })
  if (!reading.ok) throw new Error(`a message of the gate's own is refused: ${reading.message}`)
  return reading.messages
}
