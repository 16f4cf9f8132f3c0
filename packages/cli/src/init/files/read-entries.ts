// The servers that a client's file names, each with the folder it starts in and why the client would
// not start it. Pure: the text comes in.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { ClientFile, McpClientId, ServerEntry } from './client.ts'
import { documentValue, entriesAt } from './entries.ts'

export interface DiscoveredEntry extends ServerEntry {
  readonly name: string
  /** Where the client would start it: its project, or nowhere in particular. */
  readonly project?: string
  /** Why the client itself leaves it alone. */
  readonly off?: string
}

/** Where a client has its servers, if not under `mcpServers`. */
const SERVERS: Readonly<Partial<Record<McpClientId, string>>> = {
  vscode: 'servers',
  codex: 'mcp_servers',
}

/** The member of a client's file that has its servers. */
export function rootOf(client: McpClientId): string {
  return SERVERS[client] ?? 'mcpServers'
}

export function readEntries(text: string, from: ClientFile): DiscoveredEntry[] {
  const root = rootOf(from.client)
  const value = documentValue(text, from)
  const whole: JsonObject = isObject(value) ? value : {}
  const project = from.scope === 'project' ? { project: from.folder } : {}
  const own = entriesAt(text, from, [root]).map((entry) =>
    toDiscovered(entry, project, whole, from),
  )
  if (from.client !== 'claude-code' || from.scope !== 'user') return own
  // Claude Code's servers for one folder only stand in the same file.
  const local = projectsOf(value).flatMap((folder) =>
    entriesAt(text, from, ['projects', folder, root]).map((entry) =>
      toDiscovered(entry, { project: folder }, whole, from),
    ),
  )
  return [...own, ...local]
}

/** The folders that Claude Code knows. */
export function projectsOf(value: unknown): string[] {
  const projects = isObject(value) ? value.projects : undefined
  return isObject(projects) ? Object.keys(projects) : []
}

function toDiscovered(
  entry: ServerEntry,
  project: { project?: string },
  whole: JsonObject,
  from: ClientFile,
): DiscoveredEntry {
  const name = entry.path.at(-1) as string
  const off = isOff(name, entry.value, whole, from) ? { off: 'it is switched off' } : {}
  return { ...entry, name, ...project, ...off }
}

function isOff(
  name: string,
  entry: JsonObject,
  whole: JsonObject,
  { client }: ClientFile,
): boolean {
  if (entry.disabled === true || entry.enabled === false) return true
  const { mcp } = whole
  if (client !== 'gemini' || !isObject(mcp)) return false
  const allowed = names(mcp.allowed)
  return names(mcp.excluded).includes(name) || (allowed.length > 0 && !allowed.includes(name))
}

function names(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}
