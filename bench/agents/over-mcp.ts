// The same calls over MCP stdio, for Sluice and for any server with the same tools: create, todos,
// is_stopped, export, and fork if supported.

import { LineClient } from './line-client.ts'
import { type Timing, time } from './timing.ts'

export interface Tools {
  /** Calls it has had. */
  readonly calls: number
  has(tool: string): boolean
  // biome-ignore lint/suspicious/noExplicitAny: whatever a server says
  call(tool: string, args: object): Promise<any>
  close(): Promise<void>
}

export async function openTools(command: readonly string[], home?: string): Promise<Tools> {
  const client = await LineClient.open(command, home)
  const { tools } = (await client.ask('tools/list', {})) as { tools: { name: string }[] }
  const names = new Set(tools.map(({ name }) => name))
  const prefix = names.has('wasm_agent_create') ? '' : 'mcp__'
  let calls = 0
  return {
    get calls() {
      return calls
    },
    has: (tool) => names.has(prefix + tool),
    call: async (tool, args) => {
      calls += 1
      const result = await client.ask('tools/call', { name: prefix + tool, arguments: args })
      const answer = parseText(result)
      // Some wrap their answer twice.
      return Array.isArray(answer?.content) ? parseText(answer) : answer
    },
    close: () => client.close(),
  }
}

export async function overMcp(
  name: string,
  command: readonly string[],
  count: number,
  model: string,
): Promise<Timing[]> {
  const { call, has, close } = await openTools(command)
  try {
    const made = await call('wasm_agent_create', { model })
    const one = { agentId: made?.agent?.id ?? made?.agentId ?? made?.id }
    const rows = [
      await time(`${name}: create`, count, () => call('wasm_agent_create', { model })),
      await time(`${name}: todos`, count, () => call('wasm_agent_todos', one)),
      await time(`${name}: is_stopped`, count, () => call('wasm_agent_is_stopped', one)),
      await time(`${name}: export`, Math.min(count, 200), () => call('wasm_agent_export', one)),
    ]
    if (has('wasm_agent_fork'))
      rows.push(
        await time(`${name}: fork`, Math.min(count, 200), () => call('wasm_agent_fork', one)),
      )
    return rows
  } finally {
    await close()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a server says
function parseText(result: any): any {
  return JSON.parse(result.content?.[0]?.text ?? 'null')
}
