// The same calls over MCP stdio, for Sluice and for any server with the same tools: create, todos,
// is_stopped, export, and fork where there is one.

import { LineClient } from './line-client.ts'
import { type Timed, time } from './timing.ts'

export async function overMcp(
  name: string,
  command: readonly string[],
  count: number,
  model: string,
  home?: string,
): Promise<Timed[]> {
  const client = await LineClient.open(command, home)
  try {
    const { tools } = (await client.ask('tools/list', {})) as { tools: { name: string }[] }
    const prefix = tools.some((tool) => tool.name === 'wasm_agent_create') ? '' : 'mcp__'
    const call = async (tool: string, given: object) => {
      const result = await client.ask('tools/call', { name: prefix + tool, arguments: given })
      const said = textOf(result)
      // Some wrap their answer twice.
      return Array.isArray(said?.content) ? textOf(said) : said
    }
    const made = await call('wasm_agent_create', { model })
    const agentId = made?.agent?.id ?? made?.agentId ?? made?.id
    const one = { agentId }
    const rows = [
      await time(`${name}: create`, count, () => call('wasm_agent_create', { model })),
      await time(`${name}: todos`, count, () => call('wasm_agent_todos', one)),
      await time(`${name}: is_stopped`, count, () => call('wasm_agent_is_stopped', one)),
      await time(`${name}: export`, Math.min(count, 200), () => call('wasm_agent_export', one)),
    ]
    if (tools.some((tool) => tool.name === 'wasm_agent_fork'))
      rows.push(
        await time(`${name}: fork`, Math.min(count, 200), () => call('wasm_agent_fork', one)),
      )
    return rows
  } finally {
    await client.close()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a server says
function textOf(result: any): any {
  return JSON.parse(result.content?.[0]?.text ?? 'null')
}
