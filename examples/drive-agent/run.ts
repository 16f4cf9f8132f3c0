// A program drives an agent over MCP: makes it, gives it a file and a task, reads its plan, its answer as a value and the
// file that it wrote. The gate decides each of these calls; the model is a script.

import { deepStrictEqual } from 'node:assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { withGate } from '../support/gate.ts'

const policy = 'version: 1\ndefault: deny\ntools: { "agents/*": allow }\n'
const turns = [
  {
    toolCalls: [
      { name: 'write_todos', input: { todos: [{ content: 'count', status: 'completed' }] } },
    ],
  },
  { toolCalls: [{ name: 'write_file', input: { path: 'open.txt', content: '7, 9' } }] },
  { text: '{"open": [7, 9]}' },
]
const servers = { agents: { builtin: 'agents' } }
await withGate({ policy, servers }, async ({ url, data }) => {
  mkdirSync(join(data, 'scripts'), { recursive: true })
  writeFileSync(join(data, 'scripts/tickets.json'), JSON.stringify({ turns }))

  const client = new Client({ name: 'drive-agent', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/agents`)))
  const call = async (name: string, args: object) => {
    const result = await client.callTool({ name: `wasm_agent_${name}`, arguments: { ...args } })
    if (result.isError === true) throw new Error(JSON.stringify(result.content))
    return result.structuredContent as Record<string, unknown>
  }
  const { agent } = await call('create', {
    model: 'script:tickets',
    files: { 'tickets.txt': '7 open\n8 closed\n9 open' },
  })
  const { id: agentId } = agent as { id: string }
  const open = { type: 'array', items: { type: 'integer' } }
  const schema = { type: 'object', properties: { open }, required: ['open'] }
  const { output } = await call('prompt', { agentId, input: 'Which tickets are open?', schema })
  deepStrictEqual(output, { open: [7, 9] })
  const { counts } = await call('todos', { agentId })
  deepStrictEqual((counts as { completed: number }).completed, 1)
  const { output: text } = await call('tool', {
    agentId,
    toolName: 'read_file',
    toolInput: { path: 'open.txt' },
  })
  deepStrictEqual(text, '7, 9')
  await client.close()
})
