// `/mcp/<server>` and `/mcp` for MCP clients: who calls, which session, which messages. What is
// refused here never reaches a session. Behind the HTTP front, which has looked at host and origin.

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Caller } from '@sluice/access/identity/callers/caller'
import type { OperationError } from '@sluice/policy/structures/operation-error'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { getMeta, META } from '@sluice/protocol/protocol-generation'
import { hasBatches, readMessages } from '@sluice/protocol/read-message'
import { RPC, toRpcCode } from '@sluice/protocol/rpc-codes'
import type { ServerConfig } from '../../config/config.ts'
import type { ChildPeers } from '../../processes/child-peers.ts'
import { enterStep } from '../../shared/current-step.ts'
import { ANSWER_AT_ONCE_LENGTH_MAX, SESSIONS_MAX, STREAM_PULSE_MS } from '../../shared/limits.ts'
import { takeTurn } from '../../shared/slices.ts'
import type { ToolMode } from '../../shared/tool-mode.ts'
import { checkTrace } from '../../shared/trace-context.ts'
import type { ClientEvents, ClientTransport, ConnectionOrigin } from '../../shared/transport.ts'
import { GATE_STOPPING } from '../../shared/transport.ts'
import { explainMissingView } from '../../shared/view.ts'
import { type FrontRequest, JSON_TYPE, type ResponseWriter } from '../exchange/response-writer.ts'
import type { RequestForwarder } from '../forward/forward-requests.ts'
import type { ClientSession } from '../sessions/front-session.ts'
import type { OpenServer } from '../sessions/list-tools.ts'
import { type SessionIds, SessionRegistry, toSessionKey } from '../sessions/session-registry.ts'
import { SseSession } from '../sessions/sse-session.ts'
import {
  checkVersion,
  findHeaderBodyMismatch,
  isStatelessPost,
  paramHeaders,
  rejectStatelessPost,
} from '../sessions/stateless-request.ts'
import { answerForm } from './answer-form.ts'
import { type HttpAuthenticator, isLocalRequest, isLoopback } from './http-authenticator.ts'
import type { BodyResult } from './read-body.ts'
import { writeFault, writeRpcError } from './rpc-error.ts'

export interface McpFrontOptions {
  /** The kind of a server; undefined if there is no such server. */
  readonly kindOf: (server: string) => ServerConfig['kind'] | undefined
  /** Names, for the answer to an address of a view that is not there. */
  readonly views: () => readonly string[]
  /** Throws if a client cannot have the tool mode that it names. */
  readonly readMode: (server: string, text: string | undefined) => ToolMode
  /** Puts the gate behind a new session; the link is ready for messages when it returns. */
  readonly open: OpenServer
  readonly sessionNames: SessionIds
  /** What a session token names; undefined if the gate did not make it. */
  readonly readSessionToken: (token: string) => string | undefined
  readonly authenticate: HttpAuthenticator
  /** Told of an outage of the store, whose cause is in no answer. */
  readonly onOutage: (error: Error) => void
  /** How long it took to read a body that was there. */
  readonly onRead: (ms: number) => void
  readonly peers: ChildPeers
  readonly nowMs: () => number
  /** If there are other gates: requests of sessions that they have. */
  readonly forwarder?: RequestForwarder | undefined
}

/** A request for a server (or all of them), and where its answer goes. */
export interface McpRequest {
  readonly server: string
  readonly path: string
  readonly request: FrontRequest
  readonly reply: ResponseWriter
  /** Asked for once, after the caller is known. */
  readonly body: () => BodyResult | Promise<BodyResult>
}

export const OWN_PEER =
  'the connection comes from a process that the gate itself started, or one it cannot tell from those'

const OUTCOME_UNKNOWN =
  'the gate that has this session went away: whether the request was carried out is unknown'
/** A session may change its gate while a request looks for it. */
const FORWARD_TRIES_MAX = 3

const NOT_ACCEPTABLE =
  'the Accept header takes neither `application/json` nor `text/event-stream`: send both'

interface StatelessRequest {
  readonly messages: readonly JsonRpcMessage[]
  readonly request: FrontRequest
  readonly reply: ResponseWriter
}

export class McpFront {
  readonly #options: McpFrontOptions
  readonly #sessions: SessionRegistry
  readonly #sweeper: NodeJS.Timeout
  /** Whether the peer is a server of the gate's own: known once a connection. */
  readonly #ownPeers = new WeakMap<Socket, boolean | Promise<boolean>>()

  constructor(options: McpFrontOptions) {
    this.#options = options
    this.#sessions = new SessionRegistry(options.nowMs, options.sessionNames)
    this.#sweeper = setInterval(() => this.#sessions.sweep(), STREAM_PULSE_MS).unref()
  }

  close(): void {
    clearInterval(this.#sweeper)
    this.#sessions.closeAll(GATE_STOPPING)
  }

  /** Once a connection; its requests wait for it. */
  lookAt(socket: Socket): void {
    if (!isLoopback(socket.remoteAddress)) return
    // What cannot be found out is refused.
    const looking = this.#options.peers.isOwn(socket).catch(() => true)
    this.#ownPeers.set(socket, looking)
    void looking.then((isOwn) => this.#ownPeers.set(socket, isOwn))
  }

  /** Whether it comes from a process that the gate itself started. */
  isOwnPeer(socket: Socket): boolean | Promise<boolean> {
    return this.#ownPeers.get(socket) ?? false
  }

  /** A promise only if there is something to wait for: mostly there is not. */
  take(mcpRequest: McpRequest): void | Promise<void> {
    const isOwn = this.isOwnPeer(mcpRequest.request.socket)
    if (isOwn instanceof Promise) return isOwn.then((own) => this.#identify(own, mcpRequest))
    return this.#identify(isOwn, mcpRequest)
  }

  #identify(isOwnPeer: boolean, mcpRequest: McpRequest): void | Promise<void> {
    const { request, reply, path } = mcpRequest
    if (isOwnPeer) return writeRpcError(reply, 403, OWN_PEER)
    const caller = this.#options.authenticate.caller(request, reply, path)
    if (caller instanceof Promise) return caller.then((found) => this.#serve(found, mcpRequest))
    return this.#serve(caller, mcpRequest)
  }

  /** `caller` is undefined if the request has been answered. */
  #serve(caller: Caller | undefined, mcpRequest: McpRequest): void | Promise<void> {
    if (caller === undefined) return
    const { server, path, request, reply } = mcpRequest
    // Only then: which servers there are is nobody else's business.
    if (this.#options.kindOf(server) === undefined) {
      const missing = explainMissingView(server, this.#options.views())
      if (missing === undefined) return nothingAt(reply, path)
      return writeRpcError(reply, 404, `${missing.message}: ${missing.help}`)
    }
    try {
      this.#modeOf(server, request)
    } catch (error) {
      const { message, help } = error as OperationError
      const text = `${message}: ${help}`
      return writeRpcError(reply, 400, text)
    }
    const gate = this.#elsewhere(caller, mcpRequest)
    if (gate !== undefined) return this.#forward(gate, caller, mcpRequest)
    return this.#serveHere(caller, mcpRequest)
  }

  #serveHere(caller: Caller, mcpRequest: McpRequest): void | Promise<void> {
    const { server, request, reply } = mcpRequest
    if (request.method === 'POST') return this.#post(caller, mcpRequest)
    if (request.method !== 'GET' && request.method !== 'DELETE')
      return reply.send(405, { allow: 'GET, POST, DELETE' })
    const session = this.#use(server, caller, request)
    if (session === undefined && opensSse(request)) return this.#openSse(caller, mcpRequest)
    if (session === undefined) return this.#sessionGone(reply, request)
    if (request.method === 'GET') return session.listen(reply, header(request, 'last-event-id'))
    session.close('the client ended the session')
    reply.send(200, {})
  }

  /** The gate that opened the session of a request; undefined if that is this one. */
  #elsewhere(caller: Caller, { server, request }: McpRequest): string | undefined {
    const { forwarder } = this.#options
    const id = sessionIdOf(request)
    if (forwarder === undefined || id === undefined || request.forwarded !== undefined)
      return undefined
    if (this.#sessions.use(server, id, caller) !== undefined) return undefined
    return this.#sessions.gateOf(server, id, caller)
  }

  async #forward(first: string, caller: Caller, mcpRequest: McpRequest): Promise<void> {
    const { request, reply, server } = mcpRequest
    const forwarder = this.#options.forwarder as RequestForwarder
    const id = sessionIdOf(request) as string
    const body = request.method === 'POST' ? await mcpRequest.body() : undefined
    if (body !== undefined && body.text === undefined)
      return writeRpcError(reply, body.status, body.why, { code: RPC.parse })
    const { onOutage } = this.#options
    const here = { ...mcpRequest, body: () => body as BodyResult }
    const passed = { request, reply, isLocal: isLocalRequest(request), body: body?.text }
    try {
      for (let tries = 0; tries < FORWARD_TRIES_MAX; tries++) {
        const owner = await forwarder.ownerOf(id, first)
        if (owner === forwarder.gate) return await this.#serveHere(caller, here)
        const result = await forwarder.pass(owner, passed)
        if (result === 'passed') return
        if (result === 'unknown') return writeRpcError(reply, 502, OUTCOME_UNKNOWN)
        // Its server cannot go on with it: the client initialises again.
        if (this.#options.kindOf(server) !== 'http') return this.#sessionGone(reply, request)
        if (await forwarder.takeOver(id, owner)) return await this.#serveHere(caller, here)
      }
    } catch (error) {
      return writeFault(reply, error as Error, { id: findRequestId(body?.text), onOutage })
    }
    writeRpcError(reply, 503, 'the session changes its gate: try again')
  }

  /** Ends sessions that other gates have taken over. */
  closeTaken(isTaken: (id: string) => boolean): void {
    this.#sessions.closeTaken(isTaken)
  }

  /** The session that a request names; also one from before a restart of the gate. */
  #use(server: string, caller: Caller, request: FrontRequest): ClientSession | undefined {
    const id = sessionIdOf(request)
    const there = this.#sessions.use(server, id, caller)
    if (there !== undefined || this.#options.kindOf(server) !== 'http') return there
    return this.#sessions.resume(server, id, caller, (made, handle) =>
      this.#open(made, request, { sessionKey: made.sessionKey, handle }),
    )
  }

  #post(caller: Caller, mcpRequest: McpRequest): void | Promise<void> {
    const form = answerForm(mcpRequest.request.headers.accept)
    if (form === undefined) return writeRpcError(mcpRequest.reply, 406, NOT_ACCEPTABLE)
    mcpRequest.reply.readsOnlyEvents = form === 'events'
    const body = mcpRequest.body()
    if (body instanceof Promise)
      return body.then((read) => this.#readLater(caller, mcpRequest, read))
    return this.#read(caller, mcpRequest, body)
  }

  /** Decoding a long body and reading it are two pieces of work. */
  async #readLater(caller: Caller, mcpRequest: McpRequest, body: BodyResult): Promise<void> {
    if ((body.text?.length ?? 0) > ANSWER_AT_ONCE_LENGTH_MAX) await takeTurn()
    this.#read(caller, mcpRequest, body)
  }

  #read(caller: Caller, { server, request, reply }: McpRequest, body: BodyResult): void {
    if (body.text === undefined)
      return writeRpcError(reply, body.status, body.why, { code: RPC.parse })
    const id = sessionIdOf(request)
    const existing = this.#use(server, caller, request)
    const beganMs = enterStep('read')
    const read = readMessages(body.text, { batches: hasBatches(existing?.revision ?? '') })
    this.#options.onRead(performance.now() - beganMs)
    if (!read.ok) {
      const text = `${read.message} (at character ${read.offset + 1})`
      return writeRpcError(reply, 400, text, { code: toRpcCode(read.code), id: read.id })
    }
    if (isStatelessPost(request.headers, read.messages))
      return this.#stateless(server, caller, { messages: read.messages, request, reply })
    if (existing === undefined && id !== undefined) return this.#sessionGone(reply, request)
    const [first] = read.messages
    const unlike = findHeaderBodyMismatch(request.headers, read.messages)
    if (unlike !== undefined)
      return writeRpcError(reply, 400, unlike, {
        code: RPC.headerMismatch,
        id: first?.kind === 'request' ? first.id : null,
      })
    const opens = first?.kind === 'request' && first.method === 'initialize'
    if (existing === undefined && !opens) return this.#sessionGone(reply, request)
    const session =
      existing ??
      this.#sessions.open(server, caller, this.#tokenKey(request), (made) =>
        this.#open(made, request, { sessionKey: made.sessionKey }),
      )
    if (session === undefined) return tooMany(reply)
    const refused = session.refuses(read.messages)
    if (refused !== undefined) return writeRpcError(reply, 400, refused)
    const headers = paramHeaders(request.headers)
    const trace = { trace: checkTrace(request.headers) }
    const related = headers.size === 0 ? trace : { ...trace, headers }
    session.accept(read.messages, read.batch, related, reply)
  }

  /** Puts the gate behind a session that a request opens. */
  #open(
    made: ClientTransport & { readonly server: string; readonly caller: Caller },
    request: FrontRequest,
    origin: ConnectionOrigin,
  ): ClientEvents {
    const mode = this.#modeOf(made.server, request)
    return this.#options.open(made.server, made, () => made.caller, { ...origin, mode })
  }

  /** The key of the session token of a request; undefined without a valid one. */
  #tokenKey(request: FrontRequest): string | undefined {
    const token = sessionTokenOf(request)
    const name = token === undefined ? undefined : this.#options.readSessionToken(token)
    return name === undefined ? undefined : `token ${name}`
  }

  #modeOf(server: string, { url = '' }: FrontRequest): ToolMode {
    // Most addresses have no query.
    const mode = url.includes('?') ? /[?&]mode=([^&]*)/.exec(url)?.[1] : undefined
    return this.#options.readMode(server, mode)
  }

  #sessionGone(reply: ResponseWriter, request: FrontRequest): void {
    const id = sessionIdOf(request)
    const none =
      'there is no session: send `initialize`, then its Mcp-Session-Id with every request'
    if (id === undefined) return writeRpcError(reply, 400, none)
    const why = this.#sessions.whyOver(id)
    const over = `this session is over${why === undefined ? '' : ` (${why.slice(0, 300)})`}`
    writeRpcError(reply, 404, `${over}: send \`initialize\` again`)
  }

  /** The transport of 2024-11-05. */
  #openSse(caller: Caller, { server, path, request, reply }: McpRequest): void {
    const connect = (made: SseSession): ClientEvents => {
      const sessionKey = this.#tokenKey(request) ?? toSessionKey(made.id)
      return this.#open(made, request, { sessionKey })
    }
    const opened = this.#sessions.add(
      (id, nowMs, onEnd) =>
        new SseSession({ id, server, caller, nowMs, connect, onEnd, reply, path }),
    )
    if (opened === undefined) tooMany(reply)
  }

  /** A request of the newer generation stands by itself: no session, no batch, no answers. */
  #stateless(server: string, caller: Caller, { messages, request, reply }: StatelessRequest): void {
    const { headers } = request
    const [message] = messages
    const unspoken = message === undefined ? undefined : checkVersion(headers, message)
    if (unspoken !== undefined) return reply.send(400, JSON_TYPE, unspoken.text)
    if (message?.kind === 'notification') return reply.send(202, {})
    if (message?.kind !== 'request' || messages.length > 1)
      return writeRpcError(reply, 400, 'one request a POST, and no answers')
    const refused = rejectStatelessPost(headers, message)
    if (refused !== undefined) return reply.send(400, JSON_TYPE, refused.text)
    const capabilities = JSON.stringify(getMeta(message.params)[META.capabilities])
    const tokenKey = this.#tokenKey(request)
    const common = { capabilities, tokenKey, mode: this.#modeOf(server, request) }
    const client = this.#sessions.stateless(server, caller, common, (made) =>
      this.#open(made, request, { sessionKey: tokenKey }),
    )
    if (client === undefined) return tooMany(reply)
    client.accept(message, { headers: paramHeaders(headers), trace: checkTrace(headers) }, reply)
  }
}

/** In a header, or in the address if a client can have none. */
function sessionTokenOf(request: FrontRequest): string | undefined {
  const sent = header(request, 'sluice-session')
  return sent ?? /[?&]sluice_session=([\w-]{1,200})(?:&|$)/.exec(request.url ?? '')?.[1]
}

function header(request: FrontRequest, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Clients of 2024-11-05 name their session in the address. */
function sessionIdOf(request: FrontRequest): string | undefined {
  const named = header(request, 'mcp-session-id')
  return named ?? /[?&]session=([\w-]{1,100})(?:&|$)/.exec(request.url ?? '')?.[1]
}

/** Finds the id of the only request of a body. */
function findRequestId(text: string | undefined): RequestId | null {
  const read = text === undefined ? undefined : readMessages(text, { batches: true })
  if (read?.ok !== true || read.messages.length > 1) return null
  const [message] = read.messages
  return message?.kind === 'request' ? message.id : null
}

function opensSse(request: FrontRequest): boolean {
  const wantsEvents = header(request, 'accept')?.includes('text/event-stream') === true
  return request.method === 'GET' && wantsEvents && sessionIdOf(request) === undefined
}

export function nothingAt(reply: ResponseWriter, path: string): void {
  const text = `nothing is at \`${path.slice(0, 100)}\``
  const help = 'servers are at /mcp/<server>, all of them at /mcp, views at /mcp/@<view>'
  writeRpcError(reply, 404, `${text}: ${help}`)
}

function tooMany(reply: ResponseWriter): void {
  writeRpcError(reply, 503, `all ${SESSIONS_MAX} sessions are in use: try again later`)
}
