// Agents inside a gate (`builtin: agents`), over HTTP with a real client, a real model server and real
// servers: what an agent calls is judged as its owner's call, with the agent named on the record. A
// denial reaches the model, a limit holds for the family, and another principal sees nothing of it.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  type ServingGate,
  startGate,
  writeScript,
} from '../support/start-gate.ts'

const TIMEOUT_MS = 120_000
const POLICY = `
version: 1
default: allow
tools:
  office/write_note: { action: allow, rate_limit: { max: 2, window: 1h } }
  office/delete_all: { action: deny, reason: not by an agent, when: agent != null, otherwise: allow }
`
const TURNS = [
  { toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'one' } }] },
  { toolCalls: [{ name: 'office__write_note', input: { text: 'first' } }] },
  { toolCalls: [{ name: 'office__delete_all', input: {} }] },
  { toolCalls: [{ name: 'office__write_note', input: { text: 'second' } }] },
  { toolCalls: [{ name: 'office__write_note', input: { text: 'third' } }] },
  { text: 'done' },
]

const PARENT = [
  { toolCalls: [{ name: 'agents__wasm_agent_create', input: { model: 'script:story' } }] },
  { text: 'made one' },
]

const servers = {
  agents: { builtin: 'agents' as const },
  office: fixture('office', './office.log'),
}
let gate: ServingGate

beforeAll(async () => {
  gate = await startGate({ servers, policy: POLICY })
  writeScript(gate.data, 'story', TURNS)
  writeScript(gate.data, 'parent', PARENT)
}, TIMEOUT_MS)
afterAll(endGates)

test(
  'an agent calls through the gate, as its owner and no more',
  async () => {
    const client = await PlainClient.open(gate, 'agents')
    const { agent } = await client.value('wasm_agent_create', {
      model: 'script:story',
      tools: ['office/*'],
    })
    const ended = await client.value('wasm_agent_prompt', { agentId: agent.id, input: 'go' })
    expect(ended.response).toBe('done')
    const { state } = await client.value('wasm_agent_state', { agentId: agent.id })
    const messages = JSON.stringify(state.messages)
    expect(messages).toContain('not by an agent')
    expect(messages).toContain('RATE_LIMITED')
    const records = recordsOf(gate).flatMap((record) =>
      record.kind === 'intent' || record.kind === 'refusal' ? [record] : [],
    )
    const office = records.filter(({ server }) => server === 'office')
    expect(office.map(({ kind, name }) => [kind, name])).toEqual([
      ['intent', 'write_note'],
      ['refusal', 'delete_all'],
      ['intent', 'write_note'],
      ['refusal', 'write_note'],
    ])
    expect(new Set(office.map(({ agent: by }) => by))).toEqual(new Set([agent.id]))
    expect(records.find(({ server }) => server === 'agents')?.agent).toBeNull()
    const { files } = await client.value('wasm_agent_files', { agentId: agent.id })
    expect(files.map(({ path }: { path: string }) => path)).toEqual(['a.txt'])
  },
  TIMEOUT_MS,
)

test(
  'what an agent sends is read as strictly as what a client sends',
  async () => {
    const client = await PlainClient.open(gate, 'agents')
    const { agent } = await client.value('wasm_agent_create', {
      model: 'script:story',
      tools: ['office/*'],
    })
    const before = recordsOf(gate).length
    const code = `
      let deep = {}
      for (let level = 0; level < 100; level++) deep = { deep }
      const said = []
      for (const input of [['a list'], 'a text', 7, { text: '\\ud800' }, deep])
        said.push(await tools.office.fetch_page(input).then(() => 'sent', String))
      return said`
    const input = { agentId: agent.id, toolName: 'run_code', toolInput: { code } }
    const { output } = await client.value('wasm_agent_tool', input)
    const result = JSON.parse(output)
    expect(result.result).toHaveLength(5)
    for (const one of result.result) expect(one).toContain('cannot be sent')
    const calls = recordsOf(gate).slice(before)
    expect(calls.filter((record) => JSON.stringify(record).includes('"office"'))).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  'the list of agents goes on after a kill of the gate',
  async () => {
    const before = await PlainClient.open(gate, 'agents')
    const { count } = await before.value('wasm_agent_list', {})
    expect(count).toBe(2)
    await (gate as RunningGate).kill()
    gate = await serveGate({ servers, policy: POLICY, folder: gate.folder })
    const after = await PlainClient.open(gate, 'agents')
    const { agents } = await after.value('wasm_agent_list', {})
    expect(agents).toHaveLength(2)
    // The command line asks the gate that has them, and is on record there.
    const listed = await sluice(['agents', 'ls', '--json', '--data', gate.data])
    expect(JSON.parse(listed.stdout)).toMatchObject({
      agents: [{ id: agents[0].id }, {}],
      count: 2,
    })
    const unknown = await sluice(['agents', 'todos', 'agent_x', '--data', gate.data])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('AGENT_NOT_FOUND') })
  },
  TIMEOUT_MS,
)

test(
  'an agent that an agent makes through the gate is of its family: budgets do not multiply',
  async () => {
    const client = await PlainClient.open(gate, 'agents')
    const { agent } = await client.value('wasm_agent_create', {
      model: 'script:parent',
      tools: ['agents/*'],
    })
    await client.value('wasm_agent_prompt', { agentId: agent.id, input: 'go' })
    await gate.stop()
    const database = new DatabaseSync(join(gate.data, 'agents.db'), { readOnly: true })
    const rows = database.prepare('SELECT id, family, depth FROM agents').all()
    database.close()
    const parent = rows.find(({ id }) => id === agent.id)
    const child = rows.find(({ depth }) => depth === 1)
    expect(child).toMatchObject({ family: parent?.family })
    // Under another name the commands find them too, unless a wrong one is given.
    const named = { 'claude-flow': servers.agents, office: servers.office }
    gate = await serveGate({ servers: named, policy: POLICY, folder: gate.folder })
    const at = ['--data', gate.data]
    expect((await sluice(['agents', 'ls', ...at])).stdout).toContain(agent.id)
    const wrong = await sluice(['agents', 'ls', '--server', 'helpers', ...at])
    expect(wrong.stderr).toContain('--server with one of: claude-flow')
    // The words of the model come through the gate before the run has ended.
    const follow = ['agents', 'prompt', child?.id, 'go', '--follow', ...at] as string[]
    const followed = await sluice(follow)
    expect(followed).toMatchObject({ code: 0, stdout: 'done\n' })
    expect(followed.stderr).toMatch(/^done$/m)
    expect(followed.stderr).toMatch(/turn 6: 12 tokens so far/)
  },
  TIMEOUT_MS,
)
