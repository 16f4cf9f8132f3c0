// `POST /hooks/<server>`: the hooks of clients. Behind the HTTP front, which has looked at host and origin.
// Served over loopback only, with the token of a grant for these hooks. On Linux the process behind the
// connection names the session, so that the hooks and the MCP calls of one client are in one session, and
// what another process sends with a token that it has read reaches no session but its own.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { readShell } from '@sluice/policy/readers/shell-command'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { type JsonValue, parseObject } from '@sluice/policy/values/json'
import { readJson } from '@sluice/protocol/json/read-json'
import type { HookAnswer, HookEvent } from '../../hooks/clients/hook-event.ts'
import { EVENT_HEADER, SHELL_HEADER } from '../../hooks/clients/hook-lines.ts'
import { CODING_CLIENTS, type HookClient } from '../../hooks/clients/table.ts'
import { type IsGated, type RefusedHook, readHookEvent } from '../../hooks/read-event.ts'
import {
  type ClientProcess,
  findClientProcess,
  toClientProcess,
} from '../../processes/client-process.ts'
import { findPeerProcess, findPeerSockets, listAncestors } from '../../processes/peer-process.ts'
import { JSON_TYPE, type ResponseWriter } from '../exchange/response-writer.ts'
import type { HookGate } from '../hooks/hook-gate.ts'
import { HOOK_BODY_BYTES_MAX, HOOK_NOTED_MAX } from '../hooks/limits.ts'
import { resolveArguments } from '../hooks/real-paths.ts'
import { type HttpAuthenticator, isLoopback } from './http-authenticator.ts'
import { readBody } from './read-body.ts'

export interface HooksFrontOptions {
  /** The client that a server stands for; undefined if it is another kind of server, or none. */
  readonly clientOf: (server: string) => HookClient | undefined
  readonly isGated: IsGated
  /** A client has asked whose hooks an older version wrote. */
  readonly onOldHooks: (server: string) => void
  readonly gate: Pick<HookGate, 'handle'>
  readonly authenticate: Pick<HttpAuthenticator, 'caller'>
}

type UnreadHook = RefusedHook & { readonly status: number; readonly isAsked: boolean }

export class HooksFront {
  readonly #options: HooksFrontOptions
  /** Clients that ask by themselves keep their connection: their process is looked up once. */
  readonly #processes = new WeakMap<Socket, Promise<ClientProcess | undefined>>()
  /** Processes that have sent hooks. */
  readonly #clients = new LruMap<string, true>(HOOK_NOTED_MAX)

  constructor(options: HooksFrontOptions) {
    this.#options = options
  }

  /** The server that a path is for; undefined if it is no path of hooks. */
  serverOf(path: string): string | undefined {
    return /^\/hooks\/([a-z0-9-]{1,24})$/.exec(path)?.[1]
  }

  async serve(server: string, request: IncomingMessage, reply: ResponseWriter): Promise<void> {
    const refuse = (status: number, message: string) =>
      reply.send(status, JSON_TYPE, JSON.stringify({ error: message }))
    if (request.method !== 'POST') return reply.send(405, { allow: 'POST' })
    if (!isLoopback(request.socket.remoteAddress))
      return refuse(
        403,
        'hooks are served over loopback only: run a gate on the machine of the client',
      )
    const { authenticate, clientOf, gate } = this.#options
    const caller = await authenticate.caller(request, reply, `/hooks/${server}`, server)
    if (caller === undefined) return
    const client = clientOf(server)
    if (client === undefined)
      return refuse(404, `no client is called \`${server}\`: \`sluice init --hooks\` adds one`)
    const { writeAnswer } = CODING_CLIENTS[client]
    const event = await this.#readEvent({ server, client }, request)
    if ('why' in event) {
      // The user is asked: a question is never blocked.
      if (event.isAsked) return reply.send(200, JSON_TYPE, '{}')
      if (!event.isBefore) return refuse(event.status, event.why)
      const denied = writeAnswer('before', { kind: 'deny', reason: event.why })
      return reply.send(200, JSON_TYPE, JSON.stringify(denied))
    }
    const shell = request.headers[SHELL_HEADER.toLowerCase()]
    const origin = {
      server,
      client,
      caller,
      shell: typeof shell === 'string' ? shell : undefined,
      ...(await this.#identify(client, event, request)),
    }
    const decided = refuseChanged(await gate.handle(event, origin))
    const answer = writeAnswer(event.kind === 'after' ? event.event : event.kind, decided)
    reply.send(200, JSON_TYPE, JSON.stringify(answer))
  }

  /** Reads a hook with the real paths of this machine. A hook that cannot be read may be one before a tool: its status is
   * then 200, since clients that go on without a gate take any other for silence. */
  async #readEvent(
    { server, client }: { readonly server: string; readonly client: HookClient },
    request: IncomingMessage,
  ): Promise<HookEvent | UnreadHook> {
    const told = request.headers[EVENT_HEADER.toLowerCase()]
    if (told === undefined) this.#options.onOldHooks(server)
    const isBefore = (told ?? 'before') === 'before'
    const isAsked = told === 'asked'
    const body = await readBody(request, HOOK_BODY_BYTES_MAX)
    if (body.text === undefined) return { isBefore, isAsked, ...body }
    const payload = parsePayload(body.text)
    if ('why' in payload)
      return { isBefore, isAsked, status: 400, why: `the payload is not JSON: ${payload.why}` }
    const event = readHookEvent(client, payload.value, this.#options.isGated)
    if (!('kind' in event)) return { ...event, isAsked, status: 400 }
    if (event.kind === 'prompt' || event.kind === 'end') return event
    const resolving = resolveArguments(event.call)
    // A thread looks up links meanwhile, and the reading of the newest line is kept: rules ask for it next.
    const { command } = event.call.args
    if (event.kind === 'before' && typeof command === 'string') readShell(command)
    const args = await resolving
    if (typeof args !== 'string') return { ...event, call: { ...event.call, args } }
    // What a tool has said is inspected all the same.
    return event.kind === 'before' ? { isBefore: true, isAsked, status: 400, why: args } : event
  }

  /** The session that the hook belongs to, and whether a prompt in it is the user's. */
  async #identify(
    client: HookClient,
    { session, kind }: HookEvent,
    { headers, socket }: IncomingMessage,
  ) {
    const isNested = (headers['sluice-nested'] ?? '') !== ''
    // The agent can start a script, too: of a client that else asks by itself, it only asks to be decided on.
    const { sender } = CODING_CLIENTS[client]
    const script = sender === 'script' || kind === 'before' ? headers['sluice-pid'] : undefined
    const looking = this.#processes.get(socket) ?? findClient(client, socket, script)
    this.#processes.set(socket, looking)
    const found = await looking
    if (found === undefined)
      return { sessionKey: `hook ${session}`, isUsers: !isNested && process.platform !== 'linux' }
    this.#clients.set(found.name, true)
    // An agent that starts another client is not the user who asks.
    const above = kind === 'prompt' ? listAncestors(found.pid).slice(1) : []
    const isBelow = above.some(({ pid }) => this.#clients.get(toClientProcess(pid)?.name ?? ''))
    const clientPid = found.pid
    return { sessionKey: `pipe ${found.name}`, isUsers: !isNested && !isBelow, clientPid }
  }
}

/** Some clients ask by themselves, or by a script that names itself; others always by a script. */
async function findClient(
  client: HookClient,
  socket: Socket,
  named: string | string[] | undefined,
): Promise<ClientProcess | undefined> {
  if (process.platform !== 'linux') return undefined
  // A script names its process, which costs less to verify than to find.
  const isNamed = /^\d{1,10}$/.test(String(named))
  const sockets = await findPeerSockets(socket)
  const pid = await findPeerProcess(sockets, isNamed ? [Number(named)] : undefined)
  if (pid === undefined) return undefined
  const asksItself = CODING_CLIENTS[client].sender === 'client' && !isNamed
  return asksItself ? toClientProcess(pid) : findClientProcess(pid)
}

/** An output may hold what no strict reader takes, such as half a character: it is read without it, since an
 * answer that nobody inspects must not reach the model. Whatever is to be decided is read strictly. */
function parsePayload(text: string): { readonly value: JsonValue } | { readonly why: string } {
  const read = readJson(text)
  if (read.ok) return read
  const value = parseObject(text)
  if (value?.tool_response === undefined && value?.tool_result === undefined)
    return { why: `${read.message} (at character ${read.offset + 1})` }
  const mend = (_: string, part: JsonValue) =>
    typeof part === 'string' ? Buffer.from(part).toString() : part
  return { value: JSON.parse(JSON.stringify(value, mend)) }
}

/** A client would run what it asked about, and not what an approver made of it. */
function refuseChanged(answer: HookAnswer): HookAnswer {
  if (answer.kind !== 'pass' || answer.args === undefined) return answer
  // The gate adds `box` itself.
  const { box: _, ...args } = answer.args
  const reason = `an approver changed the arguments: make the call with ${JSON.stringify(args)}`
  return { kind: 'deny', reason }
}
