// The tools of every server of a configuration, for `sluice scan --config` and `sluice tools export`. The
// built-in server is one of them; a server that cannot be listed is left out, and said.

import { isOwnTool, markOwnTool } from '@sluice/catalogue/classify/own-tools'
import { isBuiltinTool } from '@sluice/gateway/config/builtin-tools'
import type { BuiltinServer, GateConfig, ServerConfig } from '@sluice/gateway/config/config'
import { prepareWorkDirectories } from '@sluice/gateway/config/work-directory'
import { listClientTools } from '@sluice/gateway/hooks/client-tools'
import { isDefinition, type ToolDefinition } from '@sluice/policy/calls/tools'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import type { JsonValue } from '@sluice/policy/values/json'
import { listAllTools } from '../servers/list-all-tools.ts'
import { listServerTools } from '../servers/list-server-tools.ts'
import { type Output, printable } from '../terminal/output.ts'

export interface ListedTools {
  readonly tools: readonly ToolDefinition[]
  readonly leftOut: readonly { readonly server: string; readonly why: string }[]
  /** Parts of a definition that the configuration leaves out of pins, as JSON Pointers. */
  readonly ignore?: readonly string[]
}

/** Throws where no server could be listed. */
export async function listConfiguredTools(
  config: GateConfig,
  output: Output,
): Promise<ListedTools> {
  prepareWorkDirectories(config)
  const sources = Object.entries(config.servers).map(([name, address]) => ({
    name,
    list: () => listTools(name, address),
  }))
  const listings = await listAllTools(sources, output)
  const failed = listings.flatMap((listing, at) =>
    'error' in listing ? [{ server: sources[at]?.name ?? '', error: listing.error }] : [],
  )
  if (failed[0] !== undefined && failed.length === sources.length) throw failed[0].error
  return {
    tools: listings.flatMap((listing) => ('tools' in listing ? listing.tools : [])),
    leftOut: failed.map(({ server, error }) => ({ server, why: error.message })),
    ignore: config.pins.ignore,
  }
}

/** As the gate lists them: built-in tools take the place of the server's own of the same names. */
async function listTools(name: string, address: ServerConfig): Promise<ToolDefinition[]> {
  const own = address.builtin === undefined ? [] : await listBuiltinTools(name, address.builtin)
  if (address.kind === 'builtin') return own
  const others = await listServerTools(name, address)
  return [...own, ...others.filter((tool) => !isBuiltinTool(address, tool.name))]
}

/** Says which servers are missing. */
export function remarkLeftOut({ leftOut }: ListedTools, output: Output): void {
  for (const { server, why } of leftOut)
    output.remark(`left out: ${printable(server)}: ${printable(why)}`)
}

/**
 * Which servers are part of Sluice, beside the definitions: no server can say it of itself. One with a
 * tool of another kind is not: the reader of these names trusts every hint of such a server.
 */
export function nameBuiltin(tools: readonly ToolDefinition[]): {
  readonly builtin?: readonly string[]
} {
  const others = new Set(tools.filter((tool) => !isOwnTool(tool)).map(({ server }) => server))
  const own = tools.map(({ server }) => server).filter((server) => !others.has(server))
  const names = [...new Set(own)]
  return names.length === 0 ? {} : { builtin: names }
}

/** What a built-in server lists; no agent is started for it. */
async function listBuiltinTools(server: string, builtin: BuiltinServer): Promise<ToolDefinition[]> {
  const listed =
    builtin === 'code'
      ? [(await import('@sluice/agents/mcp/code-server')).CODE_TOOL]
      : builtin === 'agents'
        ? await createAgentDefinitions(server)
        : builtin === 'acs'
          ? []
          : listClientTools(builtin, [])
  const tools = listed.map((tool) => ({ ...tool, server })).filter(isDefinition)
  for (const tool of tools) markOwnTool(tool)
  return tools
}

async function createAgentDefinitions(server: string): Promise<ToolDefinition[]> {
  const { listAgentTools } = await import('@sluice/agents/mcp/server')
  return listAgentTools()
    .map((tool) => ({ ...tool, server }))
    .filter(isDefinition)
}

/**
 * Marks the definitions that equal one of `builtin: agents` in every member, as `sluice agents serve` or
 * another gate lists them. A copy gains nothing by it: only the very words whose class is known pass, and
 * what a server does behind its words no definition shows.
 */
export async function recogniseOwnTools(tools: readonly ToolDefinition[]): Promise<void> {
  if (!tools.some(({ name }) => name.includes(OWN_PREFIX))) return
  const known = new Set((await createAgentDefinitions('')).map(toComparable))
  for (const tool of tools) if (known.has(toComparable(tool))) markOwnTool(tool)
}

/** At a gate's `/mcp` the name of a tool has that of its server before it. */
const OWN_PREFIX = 'wasm_'

/** What a class is derived from; the output schema is not, and a listing over the wire adds it. */
function toComparable(definition: ToolDefinition): string {
  const { description = '', inputSchema = {}, annotations = {} } = definition
  const name = definition.name.slice(Math.max(0, definition.name.lastIndexOf(OWN_PREFIX)))
  const { title = '' } = definition
  return writeCanonicalJson([name, title, description, inputSchema, annotations] as JsonValue)
}
