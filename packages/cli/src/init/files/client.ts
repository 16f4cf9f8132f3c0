// The words of this module: a client's file, an entry in it that names a server, and what becomes of
// one. Used by every file beside it and by `sluice init`.

import { toWordSet } from '@sluice/policy/structures/word-set'
import type { JsonObject } from '@sluice/policy/values/json'

/** The clients whose MCP servers `init` moves behind the gate, and what people call them. Clients that have only
 * hooks are in the gateway's hooks/clients. */
export const CLIENTS = {
  'claude-code': 'Claude Code',
  'claude-desktop': 'Claude Desktop',
  cursor: 'Cursor',
  vscode: 'VS Code',
  copilot: 'GitHub Copilot',
  windsurf: 'Windsurf',
  codex: 'Codex',
  gemini: 'Gemini CLI',
} as const

export type McpClientId = keyof typeof CLIENTS

/** A file that a client reads its servers from. */
export interface ClientFile {
  readonly client: McpClientId
  readonly file: string
  readonly format: 'json' | 'toml'
  /** `user`: the user's own. `project`: came with a folder, perhaps from a stranger. */
  readonly scope: 'user' | 'project'
  /** The project's folder, or the user's home. */
  readonly folder: string
}

/** One server in a file, and the span that belongs to it. */
export interface ServerEntry {
  readonly path: readonly string[]
  readonly value: JsonObject
  readonly start: number
  readonly end: number
  /** Why it cannot be changed where it stands. */
  readonly stuck?: string
}

/** What an entry says of how to reach its server; the other keys of an entry are the client's own
 * settings and stay. */
const TRANSPORT = toWordSet(`
  command args env cwd envFile env_vars sandbox sandboxEnabled
  type transport url serverUrl httpUrl headers bearer_token_env_var http_headers env_http_headers
`)

export function isTransport(key: string): boolean {
  return TRANSPORT.has(key)
}

/** The keys of an entry that say how to reach the server. */
export function transportOf(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => isTransport(key)))
}
