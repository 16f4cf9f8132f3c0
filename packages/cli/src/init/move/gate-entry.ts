// What an entry becomes once the gate stands before its server: a command that pipes to the gate and
// starts it if none runs, or the gate's address, in the words of each client. Pure.

import { viewOf } from '@sluice/gateway/shared/view'
import type { JsonObject } from '@sluice/policy/values/json'
import type { McpClientId } from '../files/client.ts'

export interface GateLocation {
  /** The program and arguments that are `sluice`. */
  readonly sluice: readonly string[]
  /** The configuration, as a whole path. */
  readonly config: string
  /** XDG_STATE_HOME, if it is set here: most clients would leave it out, and the gate would not know its user's
   * key. */
  readonly stateHome?: string | undefined
  /** `http://127.0.0.1:7433`, where entries become addresses. */
  readonly url?: string
  /** Joins what this client sends to the gate's addresses into one session. */
  readonly sessionToken?: string | undefined
}

/** The keys of `entry` that say how to reach the server, as they are to be. `server` may be the address of a view. */
export function gateEntry(
  client: McpClientId,
  server: string,
  { sluice: [command = 'sluice', ...words], config, stateHome, url, sessionToken }: GateLocation,
  entry: JsonObject,
): JsonObject {
  const query = sessionToken === undefined ? '' : `?sluice_session=${sessionToken}`
  const address = url === undefined ? undefined : `${url}/mcp/${server}${query}`
  const form = address === undefined ? undefined : ADDRESSES[client]?.(address)
  if (form !== undefined) return form
  const view = viewOf(server)
  const target = view === undefined ? ['--server', server] : ['--view', view]
  const args = [...words, 'stdio', '--config', config, ...target]
  // An entry that named the transport still names it.
  const type = entry.type === undefined ? {} : { type: 'stdio' }
  const env = stateHome === undefined ? {} : { env: { XDG_STATE_HOME: stateHome } }
  return { ...type, command, args, ...env }
}

/** Claude Desktop's file takes commands only. */
const ADDRESSES: Readonly<Partial<Record<McpClientId, (url: string) => JsonObject>>> = {
  'claude-code': (url) => ({ type: 'http', url }),
  cursor: (url) => ({ url }),
  vscode: (url) => ({ type: 'http', url }),
  copilot: (url) => ({ type: 'http', url }),
  windsurf: (serverUrl) => ({ serverUrl }),
  codex: (url) => ({ url }),
  gemini: (httpUrl) => ({ httpUrl }),
}
