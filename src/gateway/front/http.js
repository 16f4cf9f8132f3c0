// The gate's HTTP front: `/mcp/<server>` for MCP clients, health for operators. Host, origin, size
// and content type are looked at before a byte is parsed; what is refused here never reaches a
// session. Bound to loopback.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { readMessages } from '../../wire/read-message.ts'
import { RPC, rpcCodeOf } from '../../wire/rpc-codes.ts'
import { writeError } from '../../wire/write-message.ts'
import { BODY_BYTES_MAX, SESSION_IDLE_MS, SESSIONS_MAX } from '../limits.ts'
import { HttpSession } from './http-session.ts'
import { readBody } from './read-body.ts'
import { refusedOrigin } from './refused-origin.ts'

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
export class HttpFront {
  #options
  #server
  #sessions = new Map()
  #sweeper
  constructor(options) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error) =>
        fail(response, 500, RPC.internal, error.message),
      )
    })
    this.#server.keepAliveTimeout = 60_000
    this.#sweeper = setInterval(() => this.#sweep(), 60_000).unref()
  }
  async listen() {
    const { host, port } = this.#options
    await new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, resolve)
    })
    return { port: this.#server.address().port }
  }
  /** Takes no new requests, lets open ones finish for a while, then ends what is left. */
  async close(graceMs) {
    clearInterval(this.#sweeper)
    const closed = new Promise((resolve) => this.#server.close(() => resolve()))
    const deadline = performance.now() + graceMs
    while (
      performance.now() < deadline &&
      [...this.#sessions.values()].some(({ openRequests }) => openRequests > 0)
    )
      await new Promise((resolve) => setTimeout(resolve, 20))
    for (const session of this.#sessions.values()) session.close('the gate is stopping')
    this.#server.closeAllConnections()
    await closed
  }
  async #handle(request, response) {
    const origin = refusedOrigin(request, this.#server)
    if (origin !== undefined) return fail(response, 403, RPC.invalidRequest, origin)
    const path = (request.url ?? '').split('?')[0]
    if (path === '/healthz') return void response.writeHead(200, PLAIN).end('ok\n')
    if (path === '/readyz') return this.#ready(response)
    const server = /^\/mcp\/([a-z0-9-]{1,24})$/.exec(path)?.[1]
    if (server === undefined || !this.#options.hasServer(server))
      return fail(
        response,
        404,
        RPC.invalidRequest,
        `nothing is at \`${path.slice(0, 100)}\`: servers are at /mcp/<server>`,
      )
    if (request.method === 'POST') return this.#post(server, request, response)
    const session = this.#session(server, request)
    if (session === undefined) return sessionGone(response, request)
    if (request.method === 'GET') return session.listen(response, header(request, 'last-event-id'))
    if (request.method === 'DELETE') {
      session.close('the client ended the session')
      return void response.writeHead(200).end()
    }
    response.writeHead(405, { allow: 'GET, POST, DELETE' }).end()
  }
  async #post(server, request, response) {
    const existing = this.#session(server, request)
    if (existing === undefined && header(request, 'mcp-session-id') !== undefined)
      return sessionGone(response, request)
    const version = header(request, 'mcp-protocol-version')
    if (version !== undefined && !REVISIONS.includes(version))
      return fail(
        response,
        400,
        RPC.invalidRequest,
        `protocol version \`${version.slice(0, 40)}\` is not spoken here: ${REVISIONS.join(', ')}`,
      )
    const body = await readBody(request, BODY_BYTES_MAX)
    if (body.text === undefined) return fail(response, body.status, RPC.parse, body.why)
    const read = readMessages(body.text, { batches: existing?.revision === '2025-03-26' })
    if (!read.ok) {
      const why = `${read.message} (at character ${read.offset + 1})`
      return fail(response, 400, rpcCodeOf(read.code), why, read.id)
    }
    const [first] = read.messages
    const opens = first?.kind === 'request' && first.method === 'initialize' && !read.batch
    if (existing === undefined && !opens)
      return fail(
        response,
        400,
        RPC.invalidRequest,
        'there is no session yet: send `initialize` first',
      )
    const session = existing ?? this.#open(server)
    if (session === undefined)
      return fail(response, 503, RPC.internal, `more than ${SESSIONS_MAX} sessions are open`)
    const refused = session.refuses(read.messages)
    if (refused !== undefined) return fail(response, 400, RPC.invalidRequest, refused)
    session.accept(read.messages, read.batch, response)
  }
  #open(server) {
    if (this.#sessions.size >= SESSIONS_MAX) return undefined
    const session = Object.assign(new HttpSession(randomUUID(), this.#options.nowMs()), { server })
    this.#sessions.set(session.id, session)
    this.#options.open(server, session)
    const { onClose } = session
    session.onClose = (why) => {
      this.#sessions.delete(session.id)
      onClose(why)
    }
    return session
  }
  #session(server, request) {
    const session = this.#sessions.get(header(request, 'mcp-session-id') ?? '')
    if (session === undefined || session.server !== server) return undefined
    session.lastUsedMs = this.#options.nowMs()
    return session
  }
  #ready(response) {
    const { ok, why } = this.#options.ready()
    response
      .writeHead(ok ? 200 : 503, PLAIN)
      .end(`${ok ? 'ready' : 'not ready'}${why ? `: ${why}` : ''}\n`)
  }
  #sweep() {
    const before = this.#options.nowMs() - SESSION_IDLE_MS
    for (const session of this.#sessions.values())
      if (session.lastUsedMs < before && session.openRequests === 0)
        session.close('idle for too long')
  }
}
const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }
function header(request, name) {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}
function sessionGone(response, request) {
  const known = header(request, 'mcp-session-id') !== undefined
  const why = known
    ? 'this session is over: send `initialize` again'
    : 'the header Mcp-Session-Id is missing'
  fail(response, known ? 404 : 400, RPC.invalidRequest, why)
}
function fail(response, status, code, message, id = null) {
  if (response.headersSent) return void response.destroy()
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(writeError(id, code, message))
}
