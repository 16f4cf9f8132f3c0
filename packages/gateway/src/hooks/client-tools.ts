// The tools that coding agents have of their own, with one name for each over all clients
// (client-tools.json): what a client's server lists. All that the clients of offered-tools.json offer are
// there; any other name is listed when it is first used, as Execute: a name says nothing of what a tool does.

import type { JsonObject } from '@sluice/policy/values/json'
import tools from './client-tools.json' with { type: 'json' }
import type { HookClient } from './clients/table.ts'

interface ClientTool {
  readonly category: string
  readonly description: string
  /** Arguments that a rule can rely on. `cwd` is where the client stands: an absolute path. */
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
      destructiveHint: tool.category === 'Destructive',
      openWorldHint: tool.category === 'Execute' || tool.isOpen === true,
    },
  }))
  return [
    ...listed,
    ...listOtherTools(others, `A tool that this version of Sluice does not know (${client})`),
  ]
}

/** Tools that are known by name alone: what one does is not. */
export function listOtherTools(others: Iterable<string>, description: string): JsonObject[] {
  const unknown = {
    description,
    inputSchema: { type: 'object', additionalProperties: true },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  }
  return [...others].map((name) => ({ name, ...unknown }))
}
