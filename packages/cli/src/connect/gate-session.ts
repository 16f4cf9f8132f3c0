// One MCP session of the command line with a server behind the gate that runs, over the gate's socket: its calls are
// decided and recorded like those of any client. Used by `sluice call` and the agents commands.

import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { PROMPT_META } from '@sluice/protocol/protocol-generation'
import { RpcLines } from '../servers/rpc-lines.ts'
import { CliError } from '../terminal/errors.ts'
import { CONNECTION_ENDED, connectGate, greet } from './gate-socket.ts'

export interface CallWatch {
  readonly signal: AbortSignal
  /** The `params` of each progress notification of the call. */
  onProgress(params: JsonObject): void
  /** Members of `_meta` beside the token of the progress. */
  readonly meta?: JsonObject
}

export class GateSession {
  readonly #socket: Socket
  readonly #rpc: RpcLines
  readonly #help: string
  readonly #watches = new Map<number, CallWatch>()

  /** `help`: what a user does about a refusal. */
  private constructor(socket: Socket, help: string) {
    this.#socket = socket
    this.#help = help
    this.#rpc = new RpcLines((line) => {
      if (!socket.destroyed) socket.write(line)
    })
    createInterface({ input: socket }).on('line', (line) => this.#hear(line))
    const ended = new CliError('CLI_GATE', CONNECTION_ENDED, help)
    socket.once('close', () => this.#rpc.fail(ended))
    socket.resume()
  }

  /** Undefined if no gate runs. Rejects if it has no such server, or does not let this user in. */
  static async open(
    directory: string,
    server: string,
    help: string,
  ): Promise<GateSession | undefined> {
    const socket = await connectGate(directory)
    if (socket === undefined) return undefined
    const { SLUICE_TOKEN: token } = process.env
    try {
      // What is typed here is the user's; the gate finds out whether a person typed it.
      await greet(socket, { do: 'pipe', server, prompt: true, ...(token ? { token } : {}) })
    } catch (error) {
      socket.destroy()
      throw error
    }
    const session = new GateSession(socket, help)
    await session.#ask('initialize', () => ({
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'sluice', version: '1' },
    }))
    session.#rpc.notify('notifications/initialized')
    return session
  }

  /** The result of a tool. `typed`: what the user typed for this call. */
  callTool(
    name: string,
    args: object,
    { typed, watch }: { readonly typed: string; readonly watch?: CallWatch | undefined },
  ): Promise<JsonObject> {
    const call = { name, arguments: { ...args } }
    const meta = { [PROMPT_META]: typed }
    return this.#ask('tools/call', (id) => {
      if (watch === undefined) return { ...call, _meta: meta }
      this.#watches.set(id, watch)
      watch.signal.addEventListener('abort', () =>
        this.#rpc.notify('notifications/cancelled', { requestId: id }),
      )
      return { ...call, _meta: { progressToken: id, ...watch.meta, ...meta } }
    })
  }

  close(): void {
    this.#socket.end()
    this.#socket.destroy()
  }

  async #ask(method: string, params: (id: number) => object): Promise<JsonObject> {
    const answer = await this.#rpc.ask(method, params)
    if (isObject(answer.result)) return answer.result
    const { message = 'the gate answered with something else' } = isObject(answer.error)
      ? answer.error
      : {}
    throw new CliError('CLI_GATE', String(message), this.#help)
  }

  #hear(line: string): void {
    const message = this.#rpc.take(line)
    const { method, params } = isObject(message) ? message : {}
    if (method === 'notifications/progress' && isObject(params))
      this.#watches.get(Number(params.progressToken))?.onProgress(params)
  }
}
