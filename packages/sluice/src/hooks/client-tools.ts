// The tools that coding agents have of their own, with one name for each over all clients
// (client-tools.json): what a client's server lists. Every tool that has an effect outside of the client is
// there with its true category; a name that is not is listed when it is first used, and its category is a guess.

import type { JsonObject } from '@sluice/policy/core/json'
import tools from './client-tools.json' with { type: 'json' }
import type { HookClient } from './hook-event.ts'

interface ClientTool {
  readonly category: string
  readonly description: string
  /** Arguments that a rule can rely on. */
  readonly required?: readonly string[]
  /** The argument that is a path. */
  readonly path?: string
  /** It reaches beyond this machine. */
  readonly isOpen?: boolean
}

export const CLIENT_TOOLS: ReadonlyMap<string, ClientTool> = new Map<string, ClientTool>(
  Object.entries(tools),
)

/** As `tools/list` gives them. `others` are names that calls have used beside those of the catalogue. */
export function listClientTools(client: HookClient, others: Iterable<string>): JsonObject[] {
  const listed = [...CLIENT_TOOLS].map(([name, tool]) => ({
    name,
    description: `${tool.description} (${client})`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        (tool.required ?? []).map((argument) => [argument, { type: 'string' }]),
      ),
      required: tool.required ?? [],
      additionalProperties: true,
    },
    annotations: {
      readOnlyHint: tool.category === 'Read',
      destructiveHint: false,
      openWorldHint: tool.category === 'Execute' || tool.isOpen === true,
    },
  }))
  const inputSchema = { type: 'object', additionalProperties: true }
  return [...listed, ...[...others].map((name) => ({ name, inputSchema }))]
}
