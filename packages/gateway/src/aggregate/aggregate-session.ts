// A client of all servers at once: one session with each of them, merged. It forwards and renames; the relay of
// each server decides, counts and records, as if the client had called that server. Made by the gate for
// `/mcp` and for pipes that name no server, in the protocol generation of its client.

import { describeToCaller } from '@sluice/ledger/store/outage'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { isMergedList } from '@sluice/protocol/lists'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import { belongsTo, knowsTasks } from '@sluice/protocol/protocol-generation'
import { negotiateRevision } from '@sluice/protocol/revisions'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeResult } from '@sluice/protocol/write-message'
import { buildConnectReply, opensPages } from '../call/ask-to-connect.ts'
import { MAY_WANT_INPUT } from '../call/input-requests.ts'
import { writeAnswer } from '../call/inspect-result.ts'
import { buildNotFoundReply, noTasksAnswer } from '../call/replies.ts'
import { toStatelessResult } from '../session/stateless-results.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { ALL_LISTENS_MAX, SESSION_REQUESTS_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import type { ToolMode } from '../shared/tool-mode.ts'
import type { ClientEnd, ClientEvents, ClientSend, MessageContext } from '../shared/transport.ts'
import type { View } from '../shared/view.ts'
import { helloOf, NO_PARAMS } from './client-hello.ts'
import { AggregateMember, type MemberContext, waitFor } from './member.ts'
import { MergedLists } from './merge-lists.ts'
import { buildDiscoverResult, buildInitializeResult } from './merge-profiles.ts'
import { addressesForClient, resultForClient, withMember } from './qualified-handles.ts'
import { type RouteResult, ServerRouter } from './route-request.ts'
import { type AggregateRequest, parseMessages, ServerMessages } from './server-messages.ts'
import { AggregateSubscriptions } from './subscriptions.ts'
import { ToolModes } from './tool-modes.ts'

export interface AllServersContext {
  /** Sends to the client. */
  readonly send: ClientSend
  /** Those that the client can reach here. */
  readonly servers: () => readonly string[]
  /** The view that the client has, as it is now; undefined if it has none, or its view is gone. */
  readonly view?: (() => View | undefined) | undefined
  /** A server of the view has listed its tools. */
  readonly onTools?: ((server: string) => void) | undefined
  /** How the client sees the tools; all of them if undefined. */
  readonly mode?: ToolMode | undefined
  /** The server that runs the programs of the mode `code`. */
  readonly codeServer?: string | undefined
  /** Puts the gate between the link and a server. */
  readonly open: (server: string, ...link: Parameters<MemberContext['open']>) => ClientEvents
  readonly onEnd: () => void
  /** Something of a server's was left out of a list, by a limit. */
  readonly onLimit: (server: string, why: string) => void
  readonly log: Log
}

const LISTING = ['tools', 'prompts', 'resources']
const NOT_SENT = { 'sluice/upstream': { code: 'UPSTREAM_UNREACHABLE', repeatable: true } }
const INITIALIZED = 'notifications/initialized'

export class AggregateSession {
  readonly events: ClientEvents
  readonly #client: ClientEnd
  readonly #context: AllServersContext
  readonly #members: Map<string, AggregateMember>
  readonly #lists: MergedLists
  readonly #finder: ServerRouter
  readonly #listens: AggregateSubscriptions
  readonly #talk: ServerMessages
  /** Undefined if the client lists all tools. */
  readonly #modes: ToolModes | undefined
  readonly #open = new Map<RequestId, AggregateRequest>()
  /** Servers that wait for the client to read, by the request they answer. */
  readonly #pressing = new Map<RequestId, AggregateMember>()
  /** Servers that were waited for in vain since they were last there. */
  readonly #waitedFor = new Set<AggregateMember>()
  /** What every server is begun with. */
  #hello: ParsedMembers | undefined
  #initialized: JsonRpcNotification | undefined
  /** From `initialize` until it is answered. */
  #beginning: Promise<void> | undefined
  #level: ParsedMembers | undefined
  #closed = false

  constructor(client: ClientEnd, context: AllServersContext) {
    this.#client = client
    this.#context = context
    this.#members = new Map(context.servers().map((name) => [name, this.#member(name)]))
    const log = (server: string, text: string) => this.#log(text, server)
    const members = () => this.#members.values()
    const onLate = (list: string) => this.#talk.listChanged(list)
    const { generation } = client
    const { mode = 'all', onLimit, onTools, send, view } = context
    const codeServer = mode === 'code' ? context.codeServer : undefined
    this.#lists = new MergedLists({
      members,
      generation,
      view,
      codeServer,
      onTools,
      onLate,
      onLimit,
      log,
    })
    this.#finder = new ServerRouter(this.#members, this.#lists, log)
    const onResources = () => this.#finder.forgetResources()
    const ownerOf = (uri: string) => this.#finder.ownerOf(uri)
    const tools = { lists: this.#lists, members, codeServer, view }
    this.#modes = mode === 'all' ? undefined : new ToolModes(tools)
    this.#listens = new AggregateSubscriptions({ members, ownerOf, send, onResources })
    this.#talk = new ServerMessages({
      client,
      send,
      members: this.#members,
      listens: this.#listens,
      hasFixedTools: this.#modes !== undefined,
      onResources,
      log: (text, server) => this.#log(text, server),
    })
    this.events = {
      onMessage: (message, related) => void this.#guard(() => this.#fromClient(message, related)),
      onClose: (why) => this.#end(why),
      onPressure: (isFull, request) => this.#pressed(isFull, request),
    }
  }

  #member(name: string): AggregateMember {
    const member: AggregateMember = new AggregateMember({
      name,
      generation: this.#client.generation,
      open: (link) => this.#context.open(name, link),
      hello: () => this.#hello ?? NO_PARAMS,
      onBegun: () => this.#memberBegun(member),
      onGone: (why, wasThere) => {
        // Another has taken its place, or the server is gone.
        if (this.#members.get(name) !== member) return
        this.#log(`it is not there for a client of all servers: ${why}`, name)
        if (wasThere && !this.#closed)
          for (const kind of LISTING) this.#talk.listChanged(`${kind}/list`)
      },
      onAnswer: (request, reply) => this.#answered(member, request, reply),
      onNotification: (text, related) => this.#talk.notify(member, text, related),
      onListsChanged: () => this.#lists.forgetTools(member),
      onDrop: (request) => this.#drop(request),
      onSuspend: (request) => this.#client.suspend?.(request),
      onHeld: (request) => this.#client.noteHeld?.(request),
    })
    return member
  }

  /** A server that was not there before: begun when the client looks at its lists. */
  add(name: string): void {
    const { view, servers } = this.#context
    if (view !== undefined && !servers().includes(name)) return
    this.#members.set(name, this.#member(name))
    this.#serversChanged()
  }

  /** New requests go over a new link; what is open is answered over the one before. */
  replace(name: string): void {
    if (this.#members.has(name)) this.add(name)
  }

  /** What kept a server from beginning may be over. */
  retry(name: string): void {
    if (this.#members.get(name)?.begun === undefined) this.replace(name)
  }

  remove(name: string): void {
    const member = this.#members.get(name)
    if (member === undefined) return
    this.#members.delete(name)
    this.#lists.resources.forget(name)
    member.end('the server was removed')
    this.#serversChanged()
  }

  /** The views of the configuration are others: this session has the servers and the tools of its own as it is now. */
  viewsChanged(): void {
    const { view, servers } = this.#context
    if (view === undefined) return
    if (view() === undefined) return this.#client.close('the view was removed')
    const now = servers()
    const busy = new Set([...this.#open.values()].map(({ member }) => member))
    // A server with an open call stays until the session ends or the views change again: the call is answered.
    for (const [name, member] of [...this.#members])
      if (!now.includes(name) && !busy.has(member)) this.remove(name)
    for (const name of now) if (!this.#members.has(name)) this.add(name)
    for (const member of this.#members.values()) this.#lists.forgetTools(member)
    this.#talk.listChanged('tools/list')
  }

  #serversChanged(): void {
    this.#finder.forgetResources()
    for (const kind of LISTING) this.#talk.listChanged(`${kind}/list`)
  }

  /** Pauses the server that answers the request, or all of them if the client has one stream for all. */
  #pressed(isFull: boolean, request: RequestId | undefined): void {
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
      this.#client.close(`the gate could not handle a message: ${describeToCaller(error)}`)
    }
  }

  #fromClient(message: JsonRpcMessage, related: MessageContext | undefined): void | Promise<void> {
    if (message.kind === 'request') return this.#clientRequest(message, related)
    if (message.kind === 'notification') return this.#clientNotification(message)
    this.#talk.answer(message)
  }

  #clientRequest(
    request: JsonRpcRequest,
    related: MessageContext | undefined,
  ): void | Promise<void> {
    const { id, method, params } = request
    const { generation, revision } = this.#client
    const refused = this.#open.has(id)
      ? 'a request with this id is still open'
      : this.#open.size >= SESSION_REQUESTS_MAX
        ? `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
        : undefined
    if (refused !== undefined)
      return this.#send(id, buildErrorReply(id, RPC.invalidRequest, refused))
    const open: AggregateRequest = { method }
    this.#open.set(id, open)
    if (!belongsTo(generation, method)) return this.#refuseUnknown(id, method)
    if (generation === 'stateless') {
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
    if (generation === 'session' && revision === '') {
      if (this.#beginning === undefined)
        return this.#refuse(id, RPC.invalidRequest, 'the session has not begun: send `initialize`')
      // Sent right behind `initialize`: it waits for that, unless it is cancelled meanwhile.
      return this.#beginning.then(() =>
        this.#open.delete(id) ? this.#clientRequest(request, related) : undefined,
      )
    }
    if (method === 'server/discover') return this.#discover(id)
    if (method === 'subscriptions/listen') return this.#listen(request)
    if (isMergedList(method)) return this.#list(request)
    if (method === 'logging/setLevel') return this.#setLevel(request)
    const taken = method === TOOL_CALL ? this.#modes?.take(request) : undefined
    if (taken === undefined) return this.#route(request, open, related)
    if ('request' in taken) {
      // A client knows only the headers of the mode's tools.
      const { headers: _headers, ...rest } = related ?? {}
      return this.#route(taken.request, open, rest)
    }
    return this.#waitForAll()
      .then(taken.answer)
      .then((result) => this.#answerWith(id, method, result))
  }

  #route(
    request: JsonRpcRequest,
    open: AggregateRequest,
    related: MessageContext | undefined,
  ): void | Promise<void> {
    const { id, method } = request
    const found = this.#finder.find(request)
    if (found === undefined) return this.#refuseUnknown(id, method)
    const carry = (later: RouteResult) => this.#carry(request, open, later, related)
    return found instanceof Promise ? found.then(carry) : carry(found)
  }

  async #initialize({ id, params = NO_PARAMS }: JsonRpcRequest): Promise<void> {
    if (this.#hello !== undefined)
      return this.#refuse(id, RPC.invalidRequest, 'the session has begun already')
    const revision = negotiateRevision(params.value.protocolVersion)
    this.#hello = withMember(params, 'protocolVersion', revision)
    await Promise.all([...this.#members.values()].map(waitFor))
    this.#client.revision = revision
    this.#client.begun?.(undefined)
    this.#answer(id, {
      text: writeResult(id, buildInitializeResult(this.#members.values(), revision)),
    })
  }

  async #discover(id: RequestId): Promise<void> {
    await this.#waitForAll()
    this.#answer(id, { text: writeResult(id, buildDiscoverResult(this.#members.values())) })
  }

  /** A server that was not ready in time joins later, and the client is notified. */
  async #waitForAll(): Promise<void> {
    const missing = [...this.#members.values()].filter(({ begun }) => begun === undefined)
    const waiting = missing.map((member) => {
      const there = waitFor(member)
      if (this.#waitedFor.has(member)) return undefined
      this.#waitedFor.add(member)
      return there
    })
    await Promise.all(waiting)
  }

  async #list({ id, method, params }: JsonRpcRequest): Promise<void> {
    this.#talk.listed(method)
    await this.#waitForAll()
    try {
      const isOfMode = this.#modes !== undefined && method === 'tools/list'
      const list = isOfMode
        ? await this.#modes.list()
        : await this.#lists.list(method, params?.value.cursor)
      this.#answerWith(id, method, list)
    } catch (error) {
      this.#refuse(id, RPC.invalidParams, describeToCaller(error))
    }
  }

  async #listen({ id, params }: JsonRpcRequest): Promise<void> {
    if (this.#listens.size >= ALL_LISTENS_MAX)
      return this.#refuse(id, RPC.internal, `more than ${ALL_LISTENS_MAX} subscriptions are open`)
    await this.#waitForAll()
    await this.#listens.open(id, params?.value.notifications, () => this.#open.has(id))
  }

  /** Every server that has a log, also one that comes later. */
  async #setLevel({ id, method, params = NO_PARAMS }: JsonRpcRequest): Promise<void> {
    this.#level = params
    const loggers = [...this.#members.values()].filter((member) => member.has('logging'))
    const failed = (error: Error) => ({
      error: { code: RPC.internal, message: describeToCaller(error) },
    })
    const answers = await Promise.all(
      loggers.map((member) => member.ask(method, params).catch(failed)),
    )
    const [first] = answers
    if (first?.error === undefined || answers.some(({ error }) => error === undefined))
      return this.#answer(id, { text: writeResult(id, '{}') })
    this.#refuse(id, first.error.code, first.error.message)
  }

  #carry(
    request: JsonRpcRequest,
    open: AggregateRequest,
    route: RouteResult,
    related: MessageContext | undefined,
  ): void | Promise<void> {
    const { id } = request
    const { generation } = this.#client
    if (route.member === undefined) {
      const { method, ...unknown } = route
      return this.#answer(id, buildNotFoundReply(id, method, { ...unknown, generation }))
    }
    const { member, params } = route
    const { name, uri } = request.params?.value ?? {}
    open.advertised = String(name ?? uri)
    open.own = String(params.value.name ?? params.value.uri)
    open.isQualified = name === undefined && open.advertised !== open.own
    const pass = () => this.#pass({ ...request, params }, open, member, related)
    return member.begun === undefined ? waitFor(member).then(pass) : pass()
  }

  #pass(
    request: JsonRpcRequest,
    open: AggregateRequest,
    member: AggregateMember,
    related: MessageContext | undefined,
  ): void {
    const { id, method } = request
    // It was cancelled on the way.
    if (this.#open.get(id) !== open) return
    const isCall = method === TOOL_CALL && this.#client.generation === 'session'
    const lost = isCall && member.begun ? member.takeLoss() : undefined
    const again = 'it was started again, and its state of this session is lost: call again'
    if (lost !== undefined) return this.#notSent(id, `the server ended (${lost}); ${again}`)
    open.member = member
    if (member.pass(request, related)) return
    const why = `the server \`${member.name}\` is not there: ${member.why}`
    const { connectAt: url } = member
    const asks = url !== undefined && MAY_WANT_INPUT.has(method) && this.#opensPages
    if (!asks) return this.#notSent(id, why)
    this.#answer(id, buildConnectReply({ id, message: why, url, data: NOT_SENT }))
  }

  /** Only an error of a session asks for a page. */
  get #opensPages(): boolean {
    const isSession = this.#client.generation === 'session'
    return isSession && opensPages(this.#hello?.value.capabilities)
  }

  #clientNotification(notification: JsonRpcNotification): void {
    const { method } = notification
    if (method === 'notifications/cancelled') return this.#cancel(notification)
    if (method === 'notifications/progress') return this.#talk.progress(notification)
    if (method === INITIALIZED) this.#initialized ??= notification
    if (method === INITIALIZED || method === 'notifications/roots/list_changed')
      for (const member of this.#members.values()) member.pass(notification)
    else this.#log(`a notification that does not pass: ${method}`)
  }

  #cancel(notification: JsonRpcNotification): void {
    const id = notification.params?.value.requestId as RequestId
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#listens.close(id)
    if (open.member === undefined) this.#drop(id)
    else open.member.pass(notification)
  }

  #memberBegun(member: AggregateMember): void {
    this.#waitedFor.delete(member)
    this.#lists.forgetTools(member)
    if (this.#initialized !== undefined) member.pass(this.#initialized)
    if (this.#level !== undefined && member.has('logging'))
      void member.ask('logging/setLevel', this.#level).catch(() => {})
    this.#listens.extend(member)
    for (const kind of LISTING) if (member.has(kind)) this.#talk.listChanged(`${kind}/list`)
  }

  #answered(member: AggregateMember, id: RequestId, reply: RpcReply): void {
    const open = this.#open.get(id)
    if (open?.member !== member) return this.#log(`an answer nobody waits for: id ${id}`)
    const { advertised, own, method } = open
    const { generation } = this.#client
    const { notFound } = reply
    if (advertised !== undefined && notFound !== undefined && notFound.name === own) {
      // Under the name it was asked by: else a hidden name would not be answered as an unknown one.
      const unknown = { ...notFound, name: advertised, generation }
      return this.#answer(id, buildNotFoundReply(id, notFound.method, unknown))
    }
    const isQualified = open.isQualified === true
    if (!isQualified && !reply.text.includes('taskId')) return this.#answer(id, reply)
    const [answer] = parseMessages(reply.text) as [JsonRpcResponse]
    if (answer.result === undefined) return this.#answer(id, reply)
    const result = isQualified
      ? addressesForClient(member.name, method, answer.result)
      : resultForClient(member.name, method, answer.result, generation)
    this.#answer(id, { text: writeAnswer(id, { ...answer, result }) })
  }

  /** Not if nobody waits any more. */
  #answer(id: RequestId, reply: RpcReply): void {
    if (this.#open.delete(id)) this.#send(id, reply)
  }

  #send(id: RequestId, { text, errorCode }: RpcReply): void {
    this.#context.send(text, { request: id, answers: true, errorCode })
  }

  #answerWith(id: RequestId, method: string, result: string): void {
    const isStateless = this.#client.generation === 'stateless'
    const text = isStateless ? toStatelessResult(method, result) : result
    this.#answer(id, { text: writeResult(id, text) })
  }

  #refuseUnknown(id: RequestId, method: string): void {
    this.#refuse(id, RPC.methodNotFound, `\`${method}\` is not a method the gate knows`)
  }

  #refuse(id: RequestId, code: number, text: string): void {
    this.#answer(id, buildErrorReply(id, code, text))
  }

  #notSent(id: RequestId, text: string): void {
    this.#answer(id, buildErrorReply(id, RPC.internal, `${text}; nothing was sent`, NOT_SENT))
  }

  #drop(id: RequestId): void {
    if (this.#open.delete(id)) this.#client.drop(id)
  }

  #log(text: string, server?: string): void {
    this.#context.log('warn', text, server === undefined ? {} : { server })
  }
}
