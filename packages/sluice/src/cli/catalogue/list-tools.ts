// The tools of every server of a configuration, for `sluice scan --config` and `sluice tools export`. The
// built-in server is one of them; a server that cannot be listed is left out, and said.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { isOwnTool, markOwnTool } from '../../catalogue/classify/own-tools.ts'
import type { GateConfig } from '../../gateway/config/config.ts'
import { prepareWorkDirectories } from '../../gateway/config/work-directory.ts'
import { listAllTools } from '../../terminal/list-all-tools.ts'
import { listServerTools } from '../../terminal/list-server-tools.ts'
import { type Output, printable } from '../../terminal/output.ts'

export interface ListedTools {
  readonly tools: readonly ToolDefinition[]
  readonly leftOut: readonly { readonly server: string; readonly why: string }[]
}

/** Throws where no server could be listed. */
export async function listConfiguredTools(
  config: GateConfig,
  output: Output,
): Promise<ListedTools> {
  prepareWorkDirectories(config)
  const sources = Object.entries(config.servers).map(([name, address]) => ({
    name,
    list: () =>
      address.kind === 'builtin' ? listBuiltinTools(name) : listServerTools(name, address),
  }))
  const listings = await listAllTools(sources, output)
  const failed = listings.flatMap((listing, at) =>
    'error' in listing ? [{ server: sources[at]?.name ?? '', error: listing.error }] : [],
  )
  if (failed[0] !== undefined && failed.length === sources.length) throw failed[0].error
  return {
    tools: listings.flatMap((listing) => ('tools' in listing ? listing.tools : [])),
    leftOut: failed.map(({ server, error }) => ({ server, why: error.message })),
  }
}

/** Says which servers are missing. */
export function remarkLeftOut({ leftOut }: ListedTools, output: Output): void {
  for (const { server, why } of leftOut)
    output.remark(`left out: ${printable(server)}: ${printable(why)}`)
}

/** Which servers are part of Sluice, beside the definitions: no server can say it of itself. */
export function nameBuiltin(tools: readonly ToolDefinition[]): {
  readonly builtin?: readonly string[]
} {
  const names = [...new Set(tools.filter(isOwnTool).map(({ server }) => server))]
  return names.length === 0 ? {} : { builtin: names }
}

/** What `builtin: agents` lists; no agent is started for it. */
async function listBuiltinTools(server: string): Promise<ToolDefinition[]> {
  const { listAgentTools } = await import('../../agents/mcp/server.ts')
  const tools = listAgentTools().map((tool) => ({ ...tool, server }) as unknown as ToolDefinition)
  for (const tool of tools) markOwnTool(tool)
  return tools
}
