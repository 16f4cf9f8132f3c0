// A server and the built-in agents under one name (`command` and `builtin: agents`): prompts that use both keep
// the names they have, each call reaches the right one, and rules, classes and records are those of one server.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { throughGate } from '../support/real-client.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'
import { statelessClient } from '../support/stateless-client.ts'

const NAME = 'claude-flow'
const POLICY = `
version: 1
default: deny
categories: { Read: allow, Write: allow, Execute: allow }
tools:
  claude-flow/wasm_agent_terminate: { action: deny, reason: agents stay }
  claude-flow/memory_store: { action: allow, rate_limit: { max: 2, window: 1h, per: principal } }
`
const scratch = fileScratchDirectory()
let gate: ServingGate

beforeAll(async () => {
  const file = join(scratch, 'flow.json')
  writeFileSync(file, '{"stored":[]}')
  const servers = { [NAME]: { ...fixture('flow', file), builtin: 'agents' as const } }
  gate = await serveGate({ servers, policy: POLICY })
}, 120_000)
afterAll(async () => {
  await endGates()
})

test('both lists are one, and tools of the agents are the built-in ones', async () => {
  const client = await PlainClient.open(gate, NAME)
  const { tools } = (await client.ask('tools/list')).answer.result
  const names: string[] = tools.map(({ name }: { name: string }) => name)
  expect(names).toContain('memory_store')
  expect(names.filter((name) => name === 'wasm_agent_list')).toHaveLength(1)
  expect(names.filter((name) => name.startsWith('wasm_')).length).toBeGreaterThan(27)
  const { agents, count } = await client.value('wasm_agent_list')
  expect([agents, count]).toEqual([[], 0])
})

test('a prompt that mixes both works in both generations, and rules hold for both', async () => {
  const session = await throughGate(gate, NAME)
  const stateless = await statelessClient(gate, NAME)
  for (const client of [session.client, stateless]) {
    const call = (name: string, args: Record<string, unknown>) =>
      client.callTool({ name, arguments: args })
    const made = await call('wasm_agent_create', { instructions: 'be good' })
    const { id } = (made.structuredContent as { agent: { id: string } }).agent
    expect(await call('memory_store', { value: id })).toMatchObject({
      content: [{ text: expect.stringMatching(/^stored \d$/) }],
    })
    const todos = await call('wasm_agent_todos', { agentId: id })
    expect(todos.structuredContent).toMatchObject({ agentId: id, todos: [] })
    expect(JSON.stringify(await call('wasm_agent_terminate', { agentId: id }))).toContain(
      'agents stay',
    )
    const read = await client.readResource({ uri: `agent://${id}/todos` })
    expect(JSON.stringify(read)).toContain('counts')
  }
  await session.close()
  await stateless.close()
  const third = await PlainClient.open(gate, NAME)
  expect((await third.call('memory_store', { value: 'x' })).text).toContain('RATE_LIMITED')
  const servers = recordsOf(gate).flatMap((record) => ('server' in record ? [record.server] : []))
  expect(new Set(servers)).toEqual(new Set([NAME]))
})
