// Every tool of the agents' MCP server, and one called by its name without MCP in between: what the
// command line does where it runs the agents itself.

import { AGENT_TOOLS } from './agent-tools.ts'
import { AgentError } from './errors.ts'
import { GALLERY_TOOLS } from './gallery-tools.ts'
import type { ToolEntry, ToolSetting } from './tool-table.ts'
import { TRANSFER_TOOLS } from './transfer-tools.ts'

export const TOOLS: readonly ToolEntry[] = [...AGENT_TOOLS, ...TRANSFER_TOOLS, ...GALLERY_TOOLS]

export async function callTool(name: string, args: object, setting: ToolSetting): Promise<object> {
  const entry = TOOLS.find((each) => each.name === name)
  if (entry === undefined) throw new AgentError('AGENT_INPUT', `there is no tool \`${name}\``)
  const input = entry.input.safeParse(args)
  if (!input.success) {
    const [issue] = input.error.issues
    const where = issue?.path.join('.') ?? ''
    throw new AgentError('AGENT_INPUT', `\`${where}\`: ${issue?.message}`)
  }
  return entry.run(input.data as never, setting)
}
