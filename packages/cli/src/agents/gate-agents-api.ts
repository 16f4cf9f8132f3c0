// The agents of a gate that runs, from the command line: a client of MCP over the gate's socket, so
// that one process owns agents.db and every call is decided and recorded like any other. Undefined
// if no gate runs, or it has no agents. Called by open-agents.ts.

import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { STREAM_META, TEXT_META } from '@sluice/agents/mcp/text-pieces'
import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { PROMPT_META } from '@sluice/protocol/protocol-generation'
import { askGate, CONNECTION_ENDED, connectGate, greet } from '../connect/gate-socket.ts'
import { CliError } from '../terminal/errors.ts'
import { RpcLines } from '../terminal/rpc-lines.ts'
import type { AgentsApi, ProgressWatch } from './agents-api.ts'

/** As `--server` is if it is left out. */
const DEFAULT_SERVER = 'agents'
const POLICY_HELP = 'the gate runs these agents: see its policy'
const NO_SUCH_SERVER = /no server is called/

export async function agentsOfGate(
  directory: string,
  server: string,
): Promise<AgentsApi | undefined> {
  const socket = await connectGate(directory)
  if (socket === undefined) return undefined
  const { SLUICE_TOKEN: token } = process.env
  try {
    // What is typed here is the user's; the gate finds out whether a person typed it.
    await greet(socket, { do: 'pipe', server, prompt: true, ...(token ? { token } : {}) })
  } catch (error) {
    socket.destroy()
    if (!NO_SUCH_SERVER.test((error as Error).message)) throw error
    const other = await findOtherName(directory, server)
    return other === undefined ? undefined : agentsOfGate(directory, other)
  }
  const api = new GateAgentsApi(socket)
  await api.begin()
  return api
}

/** What the agents are called in this gate, if it runs any: it owns agents.db, so nobody else can open it. */
async function findOtherName(directory: string, server: string): Promise<string | undefined> {
  const response = await askGate(directory, { do: 'server-list' }).catch(() => undefined)
  const servers = Array.isArray(response?.servers) ? response.servers.filter(isObject) : []
  const names = servers.flatMap(({ name, entry }) =>
    isObject(entry) && entry.builtin === 'agents' ? [String(name)] : [],
  )
  const [only] = names
  if (only === undefined || (server === DEFAULT_SERVER && names.length === 1)) return only
  throw new CliError(
    'CLI_AGENTS',
    `the gate that runs has no agents called \`${server}\``,
    `pass --server with one of: ${names.join(', ')}`,
  )
}

class GateAgentsApi implements AgentsApi {
  readonly #socket: Socket
  readonly #rpc: RpcLines
  readonly #watches = new Map<number, ProgressWatch>()

  constructor(socket: Socket) {
    this.#socket = socket
    this.#rpc = new RpcLines((line) => {
      if (!socket.destroyed) socket.write(line)
    })
    createInterface({ input: socket }).on('line', (line) => this.#hear(line))
    const ended = new CliError('CLI_GATE', CONNECTION_ENDED, POLICY_HELP)
    socket.once('close', () => this.#rpc.fail(ended))
    socket.resume()
  }

  async begin(): Promise<void> {
    await this.#ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'sluice', version: '1' },
    })
    this.#rpc.notify('notifications/initialized')
  }

  async call<View>(name: string, args: object, watch?: ProgressWatch): Promise<View> {
    // The command as it was typed: a person asked for this call, with these values.
    const meta = { [PROMPT_META]: process.argv.slice(2).join(' ') }
    const result = await this.#ask('tools/call', { name, arguments: { ...args } }, watch, meta)
    const [content] = Array.isArray(result.content) ? result.content : []
    const text = isObject(content) ? String(content.text) : ''
    if (result.isError !== true) return (result.structuredContent ?? JSON.parse(text)) as View
    throw new CliError(
      'CLI_AGENTS',
      describeFailure(text),
      'docs/reference/errors.md says what to do about each code',
    )
  }

  async close(): Promise<void> {
    this.#socket.end()
    this.#socket.destroy()
  }

  async #ask(
    method: string,
    params: object,
    watch?: ProgressWatch,
    extra: JsonObject = {},
  ): Promise<JsonObject> {
    const answer = await this.#rpc.ask(method, (id) => {
      if (watch === undefined) return { ...params, _meta: extra }
      this.#watches.set(id, watch)
      watch.signal.addEventListener('abort', () =>
        this.#rpc.notify('notifications/cancelled', { requestId: id }),
      )
      const stream = watch.onText === undefined ? {} : { [STREAM_META]: true }
      return { ...params, _meta: { progressToken: id, ...stream, ...extra } }
    })
    if (isObject(answer.result)) return answer.result
    const { message = 'the gate answered with something else' } = isObject(answer.error)
      ? answer.error
      : {}
    throw new CliError('CLI_GATE', String(message), POLICY_HELP)
  }

  #hear(line: string): void {
    const message = this.#rpc.take(line)
    const { method, params } = isObject(message) ? message : {}
    if (method !== 'notifications/progress' || !isObject(params)) return
    const { progressToken, message: text, _meta: meta } = params
    const watch = this.#watches.get(Number(progressToken))
    const piece = isObject(meta) ? meta[TEXT_META] : undefined
    if (typeof piece === 'string') watch?.onText?.(piece)
    else watch?.onProgress(String(text ?? ''))
  }
}

/** The tool's own message, or the gate's. */
function describeFailure(text: string): string {
  try {
    const { error, code } = JSON.parse(text) as { error?: unknown; code?: unknown }
    if (typeof error === 'string') return `${error} (${String(code)})`
  } catch {
    // It is text.
  }
  return text
}
