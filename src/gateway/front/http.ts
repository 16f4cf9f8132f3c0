// The gate's HTTP front: `/mcp/<server>` for MCP clients, `/mcp` for all servers at once, health for
// operators. Host, origin, size and content type are looked at before a byte is parsed; what is
// refused here never reaches a session. Bound to loopback, unless there is TLS.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Caller } from '../../identity/caller.ts'
import { META, metaOf } from '../../wire/eras.ts'
import type { Id, Message } from '../../wire/message.ts'
import { hasBatches, readMessages } from '../../wire/read-message.ts'
import { RPC, rpcCodeOf } from '../../wire/rpc-codes.ts'
import { writeError } from '../../wire/write-message.ts'
import type { ServerConfig } from '../config.ts'
import { BODY_BYTES_MAX, PROCESS_SESSIONS_MAX, SESSIONS_MAX, STREAM_PULSE_MS } from '../limits.ts'
import { ALL_SERVERS, type ClientLink } from '../link.ts'
import { type Authenticate, isLoopback } from './authenticate.ts'
import type { FrontSession } from './front-session.ts'
import type { OwnPeers } from './own-peers.ts'
import { type Body, readBody } from './read-body.ts'
import { type OwnNames, refusedOrigin } from './refused-origin.ts'
import type { MetricsFront } from './serve-metrics.ts'
import { type SessionNames, Sessions } from './sessions.ts'
import { SseSession } from './sse-session.ts'
import { isStateless, paramHeaders, refusedPost } from './stateless-request.ts'

export interface HttpFrontOptions {
  readonly host: string
  readonly port: number
  /** Undefined where there is no such server. */
  readonly kindOf: (server: string) => ServerConfig['kind'] | undefined
  /** Puts the gate behind a new session; the link is ready for messages when it returns. False where
   * there is no room for one more. */
  readonly open: (server: string, link: ClientLink, who: () => Caller, handle?: string) => boolean
  readonly sessionNames: SessionNames
  readonly authenticate: Authenticate
  /** Certificate and key, where it serves over TLS itself. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined
  readonly names: OwnNames
  /** Where metrics are served. */
  readonly metrics?: MetricsFront | undefined
  /** How long it took to read a body that was there. */
  readonly onRead: (ms: number) => void
  readonly peers: OwnPeers
  readonly ready: () => { readonly ok: boolean; readonly why: string }
  readonly nowMs: () => number
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }
const KEEP_ALIVE_MS = 60_000
const OWN_PEER =
  'the connection comes from a process that the gate itself started, or one it cannot tell from those'
/** For last answers to reach their client. */
const FLUSH_MS = 500

export class HttpFront {
  readonly #options: HttpFrontOptions
  readonly #server: Server
  readonly #sessions: Sessions
  readonly #sweeper: NodeJS.Timeout
  /** Whether the peer is a server of the gate's own: known once a connection. */
  readonly #ownPeers = new WeakMap<Socket, boolean | Promise<boolean>>()
  #port = 0
  #stopping = false
  #closed: Promise<void> | undefined

  constructor(options: HttpFrontOptions) {
    this.#options = options
    const isProcess = (name: string) => options.kindOf(name) === 'stdio'
    this.#sessions = new Sessions(isProcess, options.nowMs, options.sessionNames)
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      const failed = (error: Error) => refuse(response, 500, RPC.internal, error.message)
      try {
        this.#handle(request, response)?.catch(failed)
      } catch (error) {
        failed(error as Error)
      }
    }
    this.#server =
      options.tls === undefined
        ? createServer(take)
        : createTlsServer({ ...options.tls, minVersion: 'TLSv1.2' }, take)
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS
    this.#server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket) =>
      this.#lookAt(socket as Socket),
    )
    this.#sweeper = setInterval(() => this.#sessions.sweep(), STREAM_PULSE_MS).unref()
  }

  async listen(): Promise<{ port: number }> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const inUse = `port ${port} is in use: stop what listens there, or say another --port`
        reject(error.code === 'EADDRINUSE' ? new Error(inUse) : error)
      })
      this.#server.listen(port, host, resolve)
    })
    this.#port = (this.#server.address() as { port: number }).port
    return { port: this.#port }
  }

  /** Takes no new requests; those that are open go on. */
  stopTaking(): void {
    this.#stopping = true
    this.#closed = new Promise((resolve) => this.#server.close(() => resolve()))
  }

  /** After `stopTaking`: ends what is still open. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    this.#sessions.closeAll('the gate is stopping')
    // What was just answered still has to be written.
    const idle = setInterval(() => this.#server.closeIdleConnections(), 10)
    const patience = setTimeout(() => this.#server.closeAllConnections(), FLUSH_MS)
    await this.#closed
    clearInterval(idle)
    clearTimeout(patience)
  }

  /** Once a connection; its requests wait for it. */
  #lookAt(socket: Socket): void {
    if (!isLoopback(socket.remoteAddress)) return
    // What cannot be found out is refused.
    const looking = this.#options.peers.isOwn(socket).catch(() => true)
    this.#ownPeers.set(socket, looking)
    void looking.then((isOwn) => this.#ownPeers.set(socket, isOwn))
  }

  /** A promise only where there is something to wait for: mostly there is not. */
  #handle(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const why = refusedOrigin(request, this.#port, this.#options.names)
    if (why !== undefined) return refuse(response, 403, RPC.invalidRequest, why)
    const path = (request.url ?? '').split('?')[0] as string
    if (path === '/healthz') return void response.writeHead(200, PLAIN).end('ok\n')
    if (path === '/readyz') return this.#ready(response)
    const { metrics } = this.#options
    if (path === '/metrics' && metrics) return metrics.serve(request, response)
    const { authenticate } = this.#options
    if (authenticate.metadata(path, request, response)) return
    const server = path === '/mcp' ? ALL_SERVERS : /^\/mcp\/([a-z0-9-]{1,24})$/.exec(path)?.[1]
    if (server === undefined) return nothingAt(response, path)
    if (this.#stopping) return refuse(response, 503, RPC.internal, 'the gate is stopping')
    const isOwn = this.#ownPeers.get(request.socket)
    if (isOwn instanceof Promise)
      return isOwn.then((own) => this.#identify(own, server, path, request, response))
    return this.#identify(isOwn === true, server, path, request, response)
  }

  #identify(
    isOwnPeer: boolean,
    server: string,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    if (isOwnPeer) return refuse(response, 403, RPC.invalidRequest, OWN_PEER)
    const caller = this.#options.authenticate.caller(request, response, path)
    if (caller instanceof Promise)
      return caller.then((found) => this.#serve(found, server, path, request, response))
    return this.#serve(caller, server, path, request, response)
  }

  /** `caller` is undefined where the request has been answered. */
  #serve(
    caller: Caller | undefined,
    server: string,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    if (caller === undefined) return
    // Only then: which servers there are is nobody else's business.
    if (this.#options.kindOf(server) === undefined) return nothingAt(response, path)
    if (request.method === 'POST') return this.#post(server, caller, request, response)
    if (request.method !== 'GET' && request.method !== 'DELETE')
      return void response.writeHead(405, { allow: 'GET, POST, DELETE' }).end()
    const session = this.#use(server, caller, request)
    if (session === undefined && opensSse(request))
      return this.#openSse(server, caller, path, response)
    if (session === undefined) return sessionGone(response, request)
    if (request.method === 'GET') return session.listen(response, header(request, 'last-event-id'))
    session.close('the client ended the session')
    response.writeHead(200).end()
  }

  /** The session that a request names; also one from before the gate was started anew. */
  #use(server: string, caller: Caller, request: IncomingMessage): FrontSession | undefined {
    const id = sessionIdOf(request)
    const there = this.#sessions.use(server, id, caller)
    if (there !== undefined || this.#options.kindOf(server) !== 'http') return there
    return this.#sessions.resume(server, id, caller, (made, handle) =>
      this.#options.open(server, made, () => made.caller, handle),
    )
  }

  #post(
    server: string,
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    return readBody(request, BODY_BYTES_MAX).then((body) =>
      this.#take(server, caller, body, request, response),
    )
  }

  #take(
    server: string,
    caller: Caller,
    body: Body,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (body.text === undefined) return refuse(response, body.status, RPC.parse, body.why)
    const id = sessionIdOf(request)
    const existing = this.#use(server, caller, request)
    const beganMs = performance.now()
    const read = readMessages(body.text, { batches: hasBatches(existing?.revision ?? '') })
    this.#options.onRead(performance.now() - beganMs)
    if (!read.ok) {
      const text = `${read.message} (at character ${read.offset + 1})`
      return refuse(response, 400, rpcCodeOf(read.code), text, read.id)
    }
    if (isStateless(request.headers, read.messages))
      return this.#stateless(server, caller, read.messages, request, response)
    if (existing === undefined && id !== undefined) return sessionGone(response, request)
    const [first] = read.messages
    const opens = first?.kind === 'request' && first.method === 'initialize'
    if (existing === undefined && !opens) return sessionGone(response, request)
    const session =
      existing ??
      this.#sessions.open(server, caller, (made) =>
        this.#options.open(server, made, () => made.caller),
      )
    if (session === undefined) return tooMany(response)
    const refused = session.refuses(read.messages)
    if (refused !== undefined) return refuse(response, 400, RPC.invalidRequest, refused)
    session.accept(read.messages, read.batch, response)
  }

  /** The transport of 2024-11-05. */
  #openSse(server: string, caller: Caller, path: string, response: ServerResponse): void {
    const connect = (made: SseSession): boolean =>
      this.#options.open(server, made, () => made.caller)
    const opened = this.#sessions.add(
      (id, nowMs) => new SseSession({ id, server, caller, nowMs, connect, response, path }),
    )
    if (opened === undefined) tooMany(response)
  }

  /** A request of the newer era stands by itself: no session, no batch, no answers. */
  #stateless(
    server: string,
    caller: Caller,
    messages: readonly Message[],
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const [message] = messages
    if (message?.kind === 'notification') return void response.writeHead(202).end()
    if (message?.kind !== 'request' || messages.length > 1)
      return refuse(response, 400, RPC.invalidRequest, 'one request a POST, and no answers')
    const { headers } = request
    const refused = refusedPost(headers, message)
    if (refused !== undefined)
      return void response.writeHead(400, { 'content-type': 'application/json' }).end(refused.text)
    const capabilities = JSON.stringify(metaOf(message.params)[META.capabilities])
    const client = this.#sessions.stateless(server, caller, capabilities, (made) =>
      this.#options.open(server, made, () => made.caller),
    )
    if (client === undefined) return tooMany(response)
    client.accept(message, paramHeaders(headers), response)
  }

  #ready(response: ServerResponse): void {
    const { ok, why } = this.#options.ready()
    const word = ok ? 'ready' : 'not ready'
    response.writeHead(ok ? 200 : 503, PLAIN).end(why === '' ? `${word}\n` : `${word}: ${why}\n`)
  }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Clients of 2024-11-05 name their session in the address. */
function sessionIdOf(request: IncomingMessage): string | undefined {
  const named = header(request, 'mcp-session-id')
  return named ?? /[?&]session=([\w-]{1,100})(?:&|$)/.exec(request.url ?? '')?.[1]
}

function opensSse(request: IncomingMessage): boolean {
  const wantsEvents = header(request, 'accept')?.includes('text/event-stream') === true
  return request.method === 'GET' && wantsEvents && sessionIdOf(request) === undefined
}

function nothingAt(response: ServerResponse, path: string): void {
  const text = `nothing is at \`${path.slice(0, 100)}\``
  const help = 'servers are at /mcp/<server>, all of them at /mcp'
  refuse(response, 404, RPC.invalidRequest, `${text}: ${help}`)
}

function sessionGone(response: ServerResponse, request: IncomingMessage): void {
  const over = 'this session is over: send `initialize` again'
  const none = 'there is no session: send `initialize`, then its Mcp-Session-Id with every request'
  const named = sessionIdOf(request) !== undefined
  refuse(response, named ? 404 : 400, RPC.invalidRequest, named ? over : none)
}

function tooMany(response: ServerResponse): void {
  const bounds = `${SESSIONS_MAX} sessions, ${PROCESS_SESSIONS_MAX} processes`
  refuse(response, 503, RPC.internal, `all sessions are in use (${bounds}): try again later`)
}

function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id: Id | null = null,
): void {
  if (response.headersSent) return void response.destroy()
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(writeError(id, code, message))
}
