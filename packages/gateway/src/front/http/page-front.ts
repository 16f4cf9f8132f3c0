// The console of a gate that clients started: a listener on loopback, at a free port, from the first
// `sluice console` on. It serves the page and its API to this user's browser, and no `/mcp`. Host and Origin
// must be its own (DNS rebinding), the peer no process of the gate's and, where the system tells, of no other
// user.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ChildPeers } from '../../processes/child-peers.ts'
import { CLIENT_KEEP_ALIVE_MS } from '../../shared/limits.ts'
import { PAGE_CONNECTIONS_MAX } from '../../shared/turn-limits.ts'
import { NodeResponseWriter } from '../exchange/response-writer.ts'
import { findOriginProblem } from './check-origin.ts'
import { LocalhostListener } from './localhost-listener.ts'
import { checkHead, targetOf } from './refused-head.ts'
import { writeFault, writeRpcError } from './rpc-error.ts'
import { OWN_PEER } from './serve-mcp.ts'
import type { AdminSite } from './site.ts'

export interface PageFrontOptions {
  readonly site: () => Pick<AdminSite, 'serve'> | undefined
  readonly peers: ChildPeers
  /** Told of an outage of the store, whose cause is in no answer. */
  readonly onOutage: (error: Error) => void
  /** Told how many browsers are connected whenever that changes. */
  readonly onConnections: (count: number) => void
}

const HOST = '127.0.0.1'
/** How long a refused connection has to ask and be told why. */
const REFUSED_MS = 200
const NAMES = { host: HOST, certificate: () => undefined }
const NO_MCP = 'only the console is served here: clients use `sluice stdio`'
const OTHER_USER = 'this page is for the user who runs the gate'

export class PageFront {
  readonly #options: PageFrontOptions
  readonly #server: Server
  readonly #listener: LocalhostListener
  /** Why a connection is refused: looked up once, before its first request is read. */
  readonly #refusals = new WeakMap<Socket, Promise<string | undefined>>()
  readonly #connections = new Set<Socket>()
  #opening: Promise<string> | undefined
  #port: number | undefined

  constructor(options: PageFrontOptions) {
    this.#options = options
    this.#server = createServer((request, response) => void this.#handle(request, response))
    this.#listener = new LocalhostListener(this.#server)
    this.#server.keepAliveTimeout = CLIENT_KEEP_ALIVE_MS
    this.#server.maxConnections = PAGE_CONNECTIONS_MAX
    this.#server.on('connection', (socket) => this.#meet(socket))
  }

  /** Empty until it listens. */
  get url(): string {
    return this.#port === undefined ? '' : `http://${HOST}:${this.#port}`
  }

  /** Listens from the first time on. */
  open(): Promise<string> {
    this.#opening ??= this.#listener.listen(HOST, 0).then((port) => {
      this.#port = port
      return this.url
    })
    return this.#opening
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = this.#listener.close()
    this.#server.closeAllConnections()
    await closed
  }

  #meet(socket: Socket): void {
    const refusal = this.#findRefusal(socket).catch(() => OTHER_USER)
    this.#refusals.set(socket, refusal)
    void refusal.then((why) => {
      // Its request gets its answer, and others' places are not taken by connections that say nothing.
      if (why !== undefined) return void setTimeout(() => socket.destroy(), REFUSED_MS).unref()
      // A page that is open keeps the gate; nobody else's connection does.
      if (socket.destroyed) return
      this.#connections.add(socket)
      this.#options.onConnections(this.#connections.size)
      socket.once('close', () => {
        this.#connections.delete(socket)
        this.#options.onConnections(this.#connections.size)
      })
    })
  }

  async #findRefusal(socket: Socket): Promise<string | undefined> {
    const { peers } = this.#options
    if (await peers.isOtherUser(socket)) return OTHER_USER
    return (await peers.isOwn(socket)) ? OWN_PEER : undefined
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new NodeResponseWriter(response)
    try {
      const refuse = (status: number, why: string) => {
        response.setHeader('connection', 'close')
        writeRpcError(reply, status, why)
      }
      const head = checkHead(request) ?? targetOf(request, 'http')
      if ('status' in head) return refuse(head.status, head.why)
      request.url = head.target
      const why =
        (await this.#refusals.get(request.socket)) ??
        findOriginProblem(request, this.#port ?? 0, NAMES)
      if (why !== undefined) return refuse(403, why)
      const [path = ''] = head.target.split('?')
      const site = this.#options.site()
      if (site === undefined || /^\/mcp(?:\/|$)/.test(path)) return refuse(404, NO_MCP)
      await site.serve(request, response)
    } catch (error) {
      writeFault(reply, error as Error, this.#options)
    }
  }
}
