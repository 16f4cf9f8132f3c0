// Which tools of a server are Sluice's own: all of a server that is only `builtin`, and the agents' of a server
// that has a `command` or `url` as well.

import { CLIENT_TOOLS } from '../hooks/client-tools.ts'
import type { HookClient, HookSource } from '../hooks/clients/table.ts'
import type { BoxSettings, ServerConfig } from './config.ts'

/** The names of the agents' tools, which a server beside them cannot use. */
export const AGENT_TOOL = /^wasm_(?:agent|gallery)_/

/** The client whose hooks this server stands for; undefined if it stands for none. */
export function hookClientOf(server: ServerConfig | undefined): HookClient | undefined {
  const source = hookSourceOf(server)
  return source === 'acs' ? undefined : source
}

/** What asks the gate about the calls of this server; no MCP client reaches such a server. */
export function hookSourceOf(server: ServerConfig | undefined): HookSource | undefined {
  const builtin = server?.builtin
  return builtin === 'agents' || builtin === 'code' ? undefined : builtin
}

/** What the box of a client's lines has; undefined if they run as they come. */
export function boxSettingsOf(server: ServerConfig | undefined): BoxSettings | undefined {
  return server?.kind === 'builtin' ? server.sandbox : undefined
}

export function isBuiltinTool(server: ServerConfig | undefined, tool: string): boolean {
  if (server?.builtin === undefined) return false
  return server.kind === 'builtin' || AGENT_TOOL.test(tool)
}

/** A tool that a coding client carries out itself, by the catalogue of hooks. What has another name may be of an
 * MCP server beside the gate. */
export function isClientTool(server: ServerConfig | undefined, tool: string): boolean {
  return hookClientOf(server) !== undefined && CLIENT_TOOLS.has(tool)
}
