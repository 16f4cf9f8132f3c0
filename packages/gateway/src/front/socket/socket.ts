// The gate's socket in its data directory, for commands of the same user. The first line of a
// connection says what it is for: `{"do":"pipe","server":…,"token":…}` is a client's session from then
// on (with "*" for all servers), any other word a command, answered with one line. The file mode is
// the lock: only the owner of the directory can connect.

import { randomUUID } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { Caller } from '@sluice/access/identity/callers/caller'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { ChildPeers } from '../../processes/child-peers.ts'
import {
  type ClientProcess,
  findClientProcess,
  isTypedCommand,
} from '../../processes/client-process.ts'
import { CLIENT_ENVIRONMENT_BYTES_MAX, SESSIONS_MAX } from '../../shared/limits.ts'
import type { ToolMode } from '../../shared/tool-mode.ts'
import { type ClientEnvironment, PIPE_STOPPING } from '../../shared/transport.ts'
import { explainMissingView } from '../../shared/view.ts'
import type { OpenServer } from '../sessions/list-tools.ts'
import { LineConnection } from './line-transport.ts'
import { readHello, type SocketHandshake } from './socket-handshake.ts'

export interface SocketFrontOptions {
  readonly path: string
  readonly hasServer: (name: string) => boolean
  /** Names, for the answer to a pipe to a view that is not there. */
  readonly views: () => readonly string[]
  /** Throws if a client cannot have the tool mode that it names. */
  readonly readMode: (server: string, text: unknown) => ToolMode
  /** The variables of a client that servers may have even if the client is of another user. */
  readonly listedVariables: (server: string) => readonly string[]
  readonly open: OpenServer
  /** Throws if this token, or none, lets nobody in. */
  readonly identify: (token: string | undefined, server: string) => Caller | Promise<Caller>
  /** Does what a command asks; what it throws is the answer too. */
  readonly command: (word: string, request: JsonObject) => Promise<JsonObject>
  /** What a connecting client should know, as text; may be empty. */
  readonly notice: () => string
  readonly peers: ChildPeers
  /** Told how many clients there are whenever that changes. */
  readonly onClients: (count: number) => void
}

/** Who is at the other end. */
interface IdentifiedPeer {
  readonly client?: ClientProcess | undefined
  /** It is a command that a person typed at a terminal. */
  readonly isTyped?: boolean
  /** Why it is refused. */
  readonly why?: string
}

/** Commands that need no proof of a person, since there is none yet: only from a terminal. */
const NEEDS_TERMINAL: ReadonlySet<string> = new Set(['first-pin'])

const IN_USE = `all ${SESSIONS_MAX} places for clients are in use`

export class SocketFront {
  readonly #options: SocketFrontOptions
  readonly #server: Server
  readonly #links = new Set<LineConnection>()
  /** Tells a pipe whether it is the gate that it was connected to before. */
  readonly #instance = randomUUID()
  #onLastLink: () => void = () => {}
  #closed: Promise<void> | undefined

  constructor(options: SocketFrontOptions) {
    this.#options = options
    // A client that has ended its side still reads the answers.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => void this.#greet(socket))
  }

  /** The process that has the data directory's lock may replace a stale socket. */
  async listen(): Promise<void> {
    const { path } = this.#options
    if (process.platform !== 'win32') rmSync(path, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      // Bound within this call: there is no instant in which others could connect.
      const umask = process.umask(0o177)
      this.#server.listen(path, resolve)
      process.umask(umask)
    })
    if (process.platform !== 'win32') chmodSync(path, 0o600)
  }

  /** Resolves when all pipes have ended their side and have their answers: what they have not sent is for the next
   * gate. */
  announceStop(): Promise<void> {
    this.#closed = new Promise((resolve) => this.#server.close(() => resolve()))
    for (const link of this.#links) link.send(PIPE_STOPPING)
    return new Promise((resolve) => {
      this.#onLastLink = resolve
      if (this.#links.size === 0) resolve()
    })
  }

  async close(): Promise<void> {
    if (this.#closed === undefined) void this.announceStop()
    for (const link of this.#links) link.leave('the gate is stopping')
    await this.#closed
  }

  async #greet(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy())
    try {
      const hello = await readHello(socket)
      const peer = await this.#checkPeer(socket, hello)
      if (hello.word === 'pipe') return await this.#pipe(socket, hello, peer)
      writeSocketReply(socket, {
        ...(await this.#options.command(hello.word, hello.request)),
        ok: true,
      })
    } catch (error) {
      writeSocketReply(socket, refusal(error as Error))
    }
    socket.resume()
    socket.end()
  }

  /** Finds the peer; undefined if it was not asked for, empty if it is not known. */
  async #checkPeer(socket: Socket, hello: SocketHandshake): Promise<IdentifiedPeer | undefined> {
    const needsTerminal = NEEDS_TERMINAL.has(hello.word)
    if (!this.#options.peers.isAsking && !needsTerminal) return undefined
    const { why, ...peer } = await this.#identifyPeer(socket, hello, needsTerminal)
    if (why !== undefined)
      throw new OperationError(
        `the connection is refused: ${why}`,
        'run the command yourself, at a terminal',
      )
    return peer
  }

  /** The system does not tell who is at the other end, so it has to show which process it is. */
  async #identifyPeer(
    socket: Socket,
    { rest }: Pick<SocketHandshake, 'rest'>,
    needsTerminal: boolean,
  ): Promise<IdentifiedPeer> {
    const question = this.#options.peers.question()
    if (question === undefined) return {}
    writeSocketReply(socket, { prove: question })
    if (rest.length > 0) socket.unshift(rest)
    const answer = readHello(socket)
    socket.resume()
    const { request } = await answer
    const why = this.#options.peers.refuses(question, request.pid, needsTerminal)
    if (why !== undefined) return { why }
    // Read while the peer still has the title: afterwards its pid could be another process.
    const pid = Number(request.pid)
    const client = findClientProcess(pid)
    const isTyped =
      isTypedCommand(pid) && this.#options.peers.refuses(question, pid, true) === undefined
    if (request.ack === true) writeSocketReply(socket, { proven: true })
    return { client, isTyped }
  }

  async #pipe(
    socket: Socket,
    { request, rest }: SocketHandshake,
    checked: IdentifiedPeer | undefined,
  ): Promise<void> {
    const { server, token } = request
    if (typeof server !== 'string' || !this.#options.hasServer(server)) {
      const missing = explainMissingView(String(server), this.#options.views())
      if (missing !== undefined) throw missing
      throw new OperationError(
        `no server is called \`${String(server).slice(0, 100)}\``,
        '`sluice server list` shows the servers, and which wait for a person',
      )
    }
    const mode = this.#options.readMode(server, request.mode)
    const credential = typeof token === 'string' ? token : undefined
    const known = await this.#options.identify(credential, server)
    const { client, isTyped } = checked ?? (await this.#identifyPeer(socket, { rest }, false))
    // `sluice agents prompt` hands on what a person typed; a grant says by itself whether it may.
    const isPerson = request.prompt === true && isTyped === true && credential === undefined
    const caller = isPerson ? { ...known, canSayPrompt: true } : known
    const sessionKey = client === undefined ? undefined : `pipe ${client.name}`
    const environment = await this.#askEnvironment(socket, request, server, client)
    if (socket.destroyed) return
    if (this.#links.size >= SESSIONS_MAX)
      throw new OperationError(IN_USE, 'end a client that nobody needs')
    writeSocketReply(socket, { ok: true, notice: this.#options.notice(), instance: this.#instance })
    const link = new LineConnection(socket, {
      open: (side) =>
        this.#options.open(server, side, () => caller, { sessionKey, environment, mode }),
      onEnd: () => {
        this.#links.delete(link)
        if (this.#links.size === 0) this.#onLastLink()
        this.#options.onClients(this.#links.size)
      },
    })
    this.#links.add(link)
    this.#options.onClients(this.#links.size)
    link.start(rest)
    socket.resume()
  }

  /** An environment decides what a program does (`PATH`, `NODE_OPTIONS`): as a whole it is taken only
   * from a client of the gate's own user. */
  async #askEnvironment(
    socket: Socket,
    { env }: JsonObject,
    server: string,
    client: ClientProcess | undefined,
  ): Promise<ClientEnvironment | undefined> {
    if (env !== 'whole' && env !== 'listed') return undefined
    const isSameUser = client?.isSameUser ?? process.platform !== 'linux'
    const isWhole = env === 'whole' && isSameUser
    const names = isWhole ? undefined : this.#options.listedVariables(server)
    return { variables: await askEnvironment(socket, names), isWhole }
  }
}

function writeSocketReply(socket: Socket, answer: JsonObject): void {
  if (!socket.destroyed) socket.write(`${JSON.stringify(answer)}\n`)
}

function refusal(error: Error & { readonly help?: string }): JsonObject {
  const { message, help } = error
  return { ok: false, message, ...(help === undefined ? {} : { help }) }
}

/** `names`: undefined for everything. */
async function askEnvironment(
  socket: Socket,
  names: readonly string[] | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (names?.length === 0) return {}
  const question = names === undefined ? { want: 'env' } : { want: 'env', names }
  socket.write(`${JSON.stringify(question)}\n`)
  const answer = readHello(socket, CLIENT_ENVIRONMENT_BYTES_MAX)
  socket.resume()
  const { request } = await answer.catch((error: Error) => {
    throw new OperationError(
      `the environment was not accepted: ${error.message}`,
      'unset large variables of the client, or use a gate that was started with `sluice up`',
    )
  })
  const variables = readVariables(request.variables)
  if (names === undefined) return variables
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.includes(name)))
}

function readVariables(value: JsonValue | undefined): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [name, text] of Object.entries(isObject(value) ? value : {})) {
    if (typeof text !== 'string' || !/^[^=\0]+$/.test(name) || text.includes('\0'))
      throw new OperationError(
        'the environment has an entry that is not a variable',
        'is the command of another version than the gate? install both again',
      )
    variables[name] = text
  }
  return variables
}
