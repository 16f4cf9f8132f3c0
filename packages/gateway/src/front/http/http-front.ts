// The gate's HTTP front: `/mcp/<server>` for MCP clients, `/mcp` for all servers at once, health for
// operators. Host, origin, size and content type are looked at before a byte is parsed. Bound to
// loopback, unless there is TLS.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  BODY_BYTES_MAX,
  CLIENT_CONNECTIONS_MAX,
  CLIENT_KEEP_ALIVE_MS,
  READY_ASKED_MS,
  STOP_ANNOUNCED_ANSWERS,
  STOP_ANNOUNCED_MS,
  STOP_LOOK_EVERY_MS,
  STOP_QUIET_MS,
} from '../../shared/limits.ts'
import type { StopDeadline } from '../../shared/stop-deadline.ts'
import { ALL_SERVERS } from '../../shared/transport.ts'
import {
  type FrontRequest,
  NodeResponseWriter,
  type ResponseWriter,
} from '../exchange/response-writer.ts'
import { UnreadResponses } from '../exchange/unread-answers.ts'
import type { PlainEvents } from '../fast-path/connection.ts'
import { FastPathServer } from '../fast-path/connections.ts'
import type { FastPathResponseWriter } from '../fast-path/fast-path-response-writer.ts'
import type { FastPathHead } from '../fast-path/request-reader.ts'
import { findOriginProblem, type GateHostNames } from './check-origin.ts'
import { LocalhostListener } from './localhost-listener.ts'
import { decodeBody, readBody } from './read-body.ts'
import { checkHead, type RefusedHead, targetOf } from './refused-head.ts'
import { writeFault, writeRpcError } from './rpc-error.ts'
import type { AcsFront } from './serve-acs.ts'
import type { HooksFront } from './serve-hooks.ts'
import { McpFront, type McpFrontOptions, nothingAt, OWN_PEER } from './serve-mcp.ts'
import type { MetricsFront } from './serve-metrics.ts'
import { RegistryFront } from './serve-registry.ts'
import { TriggersFront } from './serve-triggers.ts'
import type { AdminSite } from './site.ts'
import type { TlsCertificate, TlsPair } from './tls-certificate.ts'

export interface HttpFrontOptions extends McpFrontOptions {
  readonly host: string
  readonly port: number
  /** Where it serves over TLS itself. */
  readonly tls?: TlsCertificate | undefined
  readonly names: GateHostNames
  /** Where metrics are served. */
  readonly metrics?: MetricsFront | undefined
  /** Where the servers are listed as an MCP registry lists them. */
  readonly registry?: RegistryFront | undefined
  /** Where hooks of clients are served. */
  readonly hooks?: HooksFront | undefined
  /** Where agents ask by the Agent Control Standard. */
  readonly acs?: AcsFront | undefined
  /** Where webhooks prompt agents. */
  readonly triggers?: TriggersFront | undefined
  /** The admin API and the console: everything that is nothing else's. */
  readonly site?: Pick<AdminSite, 'serve'> | undefined
  readonly ready: () => { readonly ok: boolean; readonly why: string }
}

interface PlainRoute {
  readonly request: FrontRequest
  readonly server: string
  readonly path: string
  /** Why it is refused. */
  readonly why: string | undefined
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }
const ACS_PATH = '/acs'
const STOPPING = { ok: false, why: 'the gate is stopping' }
/** How long last answers have to reach their client. */
const FLUSH_MS = 500

export class HttpFront {
  readonly #options: HttpFrontOptions
  readonly #server: Server
  readonly #listener: LocalhostListener
  readonly #mcp: McpFront
  readonly #plain: FastPathServer
  readonly #unread = new UnreadResponses()
  /** What is the same for every request with one head. */
  #plainHeads = new WeakMap<FastPathHead, PlainRoute>()
  /** Connections that end with an answer already given: what `node:http` reads on is no request. */
  readonly #ending = new WeakSet<Socket>()
  #port = 0
  #stopping = false
  #readyAskedMs = Number.NEGATIVE_INFINITY
  /** Answers of `/readyz` since the gate has announced that it stops. */
  #refusals: number | undefined
  /** When the last request came since then. */
  #askedMs = 0
  #closed: Promise<void> | undefined

  constructor(options: HttpFrontOptions) {
    this.#options = options
    this.#mcp = new McpFront(options)
    const take = (request: IncomingMessage, response: ServerResponse): void =>
      this.#runFor(new NodeResponseWriter(response), () => this.#handle(request, response))
    this.#server =
      options.tls === undefined ? createServer(take) : this.#createTls(options.tls, take)
    this.#listener = new LocalhostListener(this.#server, { isAlone: options.tls !== undefined })
    this.#server.keepAliveTimeout = CLIENT_KEEP_ALIVE_MS
    // Also of those that make room and are not gone yet, or have not shaken hands.
    this.#server.maxConnections = 2 * CLIENT_CONNECTIONS_MAX
    const event = options.tls === undefined ? 'connection' : 'secureConnection'
    const takePlain: PlainEvents['onRequest'] = (head, body, socket, reply) =>
      this.#runFor(reply, () => this.#handlePlain(head, body, socket, reply))
    this.#plain = new FastPathServer(this.#server, event, {
      onOpen: (socket) => this.#mcp.lookAt(socket),
      onRequest: takePlain,
      onUnread: (socket) => this.#unread.add(socket),
    })
  }

  /** Open connections stay open, with the certificate they began with. */
  #createTls(own: TlsCertificate, take: RequestListener): Server {
    const settings = (pair: TlsPair) => ({ ...pair, minVersion: 'TLSv1.2' }) as const
    const server = createTlsServer(settings(own.pair), take)
    own.onChange((pair) => {
      server.setSecureContext(settings(pair))
      // Its names may be others.
      this.#plainHeads = new WeakMap()
    })
    return server
  }

  async listen(): Promise<{ port: number }> {
    const { host, port } = this.#options
    this.#port = await this.#listener.listen(host, port)
    return { port: this.#port }
  }

  /** A request that another gate passes on. */
  takeForwarded(incoming: IncomingMessage, response: ServerResponse, isLocal: boolean): void {
    // Else the other gate would send a request over a connection that is just being closed.
    if (this.#refusals !== undefined) response.shouldKeepAlive = false
    const reply = new NodeResponseWriter(response, this.#unread)
    const path = (incoming.url ?? '').split('?')[0] as string
    const server = findServer(path)
    if (server === undefined) return nothingAt(reply, path)
    if (this.#stopping) return writeRpcError(reply, 503, 'the gate is stopping')
    const { headers, method, socket, url } = incoming
    const request: FrontRequest = { headers, method, socket, url, forwarded: { isLocal } }
    const body = () => readBody(incoming, BODY_BYTES_MAX)
    this.#runFor(reply, () => this.#mcp.take({ server, path, request, reply, body }))
  }

  /** Ends sessions that other gates have taken over. */
  closeTaken(isTaken: (id: string) => boolean): void {
    this.#mcp.closeTaken(isTaken)
  }

  /** From now on `/readyz` says no, and every answer ends its connection. Resolves when a load balancer that asks has
   * noticed and sends no more requests: until then they are taken as before. */
  async announceStop(deadline: Pick<StopDeadline, 'isOver'>): Promise<void> {
    const { nowMs } = this.#options
    const beganMs = nowMs()
    this.#refusals = 0
    this.#plain.announceStop()
    const isAsked = () => nowMs() - this.#readyAskedMs < READY_ASKED_MS
    while (isAsked() && nowMs() - beganMs < STOP_ANNOUNCED_MS && !deadline.isOver) {
      const hasNoticed = this.#refusals >= STOP_ANNOUNCED_ANSWERS
      if (hasNoticed && nowMs() - this.#askedMs > STOP_QUIET_MS) return
      await sleep(STOP_LOOK_EVERY_MS)
    }
  }

  /** Takes no new requests; those that are open go on. */
  stopTaking(): void {
    this.#stopping = true
    this.#closed = this.#listener.close()
    this.#plain.stopTaking()
  }

  /** After `stopTaking`: ends what is still open. */
  async close(): Promise<void> {
    this.#mcp.close()
    // What was just answered still has to be written.
    const idle = setInterval(() => this.#server.closeIdleConnections(), 10)
    const patience = setTimeout(() => {
      this.#server.closeAllConnections()
      this.#plain.close()
    }, FLUSH_MS)
    await this.#closed
    this.#plain.close()
    clearInterval(idle)
    clearTimeout(patience)
  }

  /** A promise only if there is something to wait for: mostly there is not. */
  #handlePlain(
    head: FastPathHead,
    bytes: string | Buffer,
    socket: Socket,
    reply: FastPathResponseWriter,
  ): void | Promise<void> {
    let route = this.#plainHeads.get(head)
    if (route === undefined) {
      const { path, headers } = head
      const request: FrontRequest = { method: 'POST', url: path, headers, socket }
      const why = findOriginProblem(request, this.#port, this.#options.names)
      const server = path === '/mcp' ? ALL_SERVERS : path.slice('/mcp/'.length)
      route = { request, server, path, why }
      this.#plainHeads.set(head, route)
    }
    const { request, server, path, why } = route
    if (this.#refusals !== undefined) this.#askedMs = this.#options.nowMs()
    if (why !== undefined) return writeRpcError(reply, 403, why)
    if (this.#stopping) return writeRpcError(reply, 503, 'the gate is stopping')
    const body = () => decodeBody(request.headers, bytes)
    return this.#mcp.take({ server, path, request, reply, body })
  }

  #handle(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    if (this.#ending.has(request.socket)) return
    if (this.#refusals !== undefined) response.shouldKeepAlive = false
    const scheme = this.#options.tls === undefined ? 'http' : 'https'
    const head = checkHead(request) ?? targetOf(request, scheme)
    if ('status' in head) return this.#refuseHead(request, response, head)
    request.url = head.target
    const { registry } = this.#options
    if (registry !== undefined && RegistryFront.isPath(request.url.split('?')[0] as string))
      return registry.serve(request, response)
    const why = findOriginProblem(request, this.#port, this.#options.names)
    if (why !== undefined) return writeRpcError(new NodeResponseWriter(response), 403, why)
    const path = (request.url ?? '').split('?')[0] as string
    if (path === '/healthz') return void response.writeHead(200, PLAIN).end('ok\n')
    if (path === '/readyz') return this.#ready(response)
    const { metrics } = this.#options
    if (path === '/metrics' && metrics) return metrics.serve(request, response)
    const { authenticate } = this.#options
    if (authenticate.metadata(path, request, response)) return
    if (this.#refusals !== undefined) this.#askedMs = this.#options.nowMs()
    const reply = new NodeResponseWriter(response, this.#unread)
    const server = findServer(path)
    const hooked = this.#options.hooks?.serverOf(path)
    const acs = path === ACS_PATH ? this.#options.acs : undefined
    const triggers = TriggersFront.isPath(path) ? this.#options.triggers : undefined
    const isServed = [server, hooked, acs, triggers].some((each) => each !== undefined)
    if (!isServed && this.#options.site === undefined) return nothingAt(reply, path)
    if (this.#stopping) return writeRpcError(reply, 503, 'the gate is stopping')
    if (hooked !== undefined) return this.#hook(hooked, request, reply)
    if (acs !== undefined) return this.#acs(acs, request, reply)
    if (triggers !== undefined) return this.#trigger(triggers, path, request, reply)
    if (server === undefined) return this.#site(request, response)
    const body = () => readBody(request, BODY_BYTES_MAX)
    return this.#mcp.take({ server, path, request, reply, body })
  }

  #refuseHead(
    { socket }: IncomingMessage,
    response: ServerResponse,
    { status, why }: RefusedHead,
  ): void {
    this.#ending.add(socket)
    response.setHeader('connection', 'close')
    writeRpcError(new NodeResponseWriter(response), status, why)
  }

  async #hook(server: string, request: IncomingMessage, reply: NodeResponseWriter): Promise<void> {
    if (await this.#mcp.isOwnPeer(request.socket)) return writeRpcError(reply, 403, OWN_PEER)
    await this.#options.hooks?.serve(server, request, reply)
  }

  async #acs(acs: AcsFront, request: IncomingMessage, reply: NodeResponseWriter): Promise<void> {
    if (await this.#mcp.isOwnPeer(request.socket)) return writeRpcError(reply, 403, OWN_PEER)
    await acs.serve(request, reply)
  }

  async #trigger(
    triggers: TriggersFront,
    path: string,
    request: IncomingMessage,
    reply: NodeResponseWriter,
  ): Promise<void> {
    if (await this.#mcp.isOwnPeer(request.socket)) return writeRpcError(reply, 403, OWN_PEER)
    await triggers.serve(path, request, reply)
  }

  async #site(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await this.#mcp.isOwnPeer(request.socket))
      return writeRpcError(new NodeResponseWriter(response), 403, OWN_PEER)
    await this.#options.site?.serve(request, response)
  }

  /** Answers with what `work` throws, at once or later. */
  #runFor(reply: ResponseWriter, work: () => void | Promise<void>): void {
    const failed = (error: Error) => writeFault(reply, error, this.#options)
    try {
      work()?.catch(failed)
    } catch (error) {
      failed(error as Error)
    }
  }

  #ready(response: ServerResponse): void {
    this.#readyAskedMs = this.#options.nowMs()
    const { ok, why } = this.#refusals === undefined ? this.#options.ready() : STOPPING
    if (this.#refusals !== undefined) this.#refusals += 1
    const word = ok ? 'ready' : 'not ready'
    response.writeHead(ok ? 200 : 503, PLAIN).end(why === '' ? `${word}\n` : `${word}: ${why}\n`)
  }
}

function findServer(path: string): string | undefined {
  return path === '/mcp' ? ALL_SERVERS : /^\/mcp\/(@?[a-z0-9-]{1,24})$/.exec(path)?.[1]
}
