// The agents of a gate that runs, from the command line: a client of MCP over the gate's socket, so
// that one process owns agents.db and every call is decided and recorded like any other. Undefined
// if no gate runs, or it has no agents. Called by open-agents.ts.

import { STREAM_META, TEXT_META } from '@sluice/agents/mcp/text-pieces'
import { attempt } from '@sluice/policy/structures/attempt'
import { isObject } from '@sluice/policy/values/json'
import { type CallWatch, GateSession } from '../connect/gate-session.ts'
import { askGate } from '../connect/gate-socket.ts'
import { CliError } from '../terminal/errors.ts'
import { type AgentsApi, AgentsCallError, type ProgressWatch } from './agents-api.ts'

/** As `--server` is if it is left out. */
const DEFAULT_SERVER = 'agents'
const POLICY_HELP = 'the gate runs these agents: see its policy'
const NO_SUCH_SERVER = /no server is called/

export async function agentsOfGate(
  directory: string,
  server: string,
): Promise<AgentsApi | undefined> {
  try {
    const session = await GateSession.open(directory, server, POLICY_HELP)
    return session && new GateAgentsApi(session)
  } catch (error) {
    if (!NO_SUCH_SERVER.test((error as Error).message)) throw error
    const other = await findOtherName(directory, server)
    return other === undefined ? undefined : agentsOfGate(directory, other)
  }
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
  readonly #session: GateSession

  constructor(session: GateSession) {
    this.#session = session
  }

  async call<View>(
    name: string,
    args: object,
    watch?: ProgressWatch,
    typed: string = process.argv.slice(2).join(' '),
  ): Promise<View> {
    const result = await this.#session.callTool(name, args, {
      typed,
      watch: watch && toCallWatch(watch),
    })
    const [content] = Array.isArray(result.content) ? result.content : []
    const text = isObject(content) ? String(content.text) : ''
    if (result.isError !== true) return (result.structuredContent ?? JSON.parse(text)) as View
    throw readFailure(text)
  }

  async close(): Promise<void> {
    this.#session.close()
  }
}

function toCallWatch(watch: ProgressWatch): CallWatch {
  return {
    signal: watch.signal,
    ...(watch.onText === undefined ? {} : { meta: { [STREAM_META]: true } }),
    onProgress: ({ message, _meta: meta }) => {
      const piece = isObject(meta) ? meta[TEXT_META] : undefined
      if (typeof piece === 'string') watch.onText?.(piece)
      else watch.onProgress(String(message ?? ''))
    },
  }
}

/** The tool's own message and code, or the gate's text. */
function readFailure(text: string): AgentsCallError {
  const answer = attempt(() => JSON.parse(text))
  if (!isObject(answer) || typeof answer.error !== 'string')
    return new AgentsCallError(text, undefined)
  return new AgentsCallError(answer.error, String(answer.code))
}
