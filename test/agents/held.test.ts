import { afterAll, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { PlainClient, sentTo } from '../support/plain-client.ts'
import { fixture, until, writeScript } from '../support/start-gate.ts'

const TIMEOUT_MS = 120_000
const POLICY = `
version: 1
default: allow
tools:
  office/write_note: { action: require_approval, approval: { wait: 20s } }
`
const TURNS = [
  { toolCalls: [{ name: 'office__write_note', input: { text: 'yes' } }] },
  { toolCalls: [{ name: 'office__write_note', input: { text: 'no' } }] },
  { text: 'done' },
]
const servers = {
  agents: { builtin: 'agents' as const },
  office: fixture('office', './office.log'),
}

afterAll(() => endOwnGates())

async function waiting(gate: OwnGate, text: string): Promise<ApprovalRequest> {
  const args = JSON.stringify({ text })
  const find = async () =>
    (await gate.approvals.list({ states: ['pending'] })).find((request) => request.args === args)
  await until(async () => (await find()) !== undefined, 30_000)
  return (await find()) as ApprovalRequest
}

const notes = (gate: OwnGate) =>
  sentTo(gate.folder).flatMap(({ params }) =>
    params?.name === 'write_note' ? [params.arguments.text] : [],
  )

test('waits over a restart and goes on with the verdict', { timeout: TIMEOUT_MS }, async () => {
  const first = await ownGate({ servers, policy: POLICY }, { agents: agentsFor })
  writeScript(first.data, 'story', TURNS)
  const client = await PlainClient.open(first as never, 'agents')
  const { agent } = await client.value('wasm_agent_create', {
    model: 'script:story',
    tools: ['office/*'],
  })
  const prompt = { agentId: agent.id, input: 'go', waitMs: 1 }
  const { runId } = await client.value('wasm_agent_prompt', prompt)
  const request = await waiting(first, 'yes')
  expect(request).toMatchObject({ agent: agent.id, principal: { id: 'local' }, server: 'office' })
  const list = async () => JSON.stringify(await client.value('wasm_agent_list', {}))
  await until(async () => (await list()).includes('"state":"waiting"'), 30_000)
  await first.stop()
  expect(notes(first)).toEqual([])

  const gate = await ownGate(
    { servers, policy: POLICY, folder: first.folder },
    { agents: agentsFor },
  )
  await gate.approvals.decide(request.id, { verdict: 'approve' }, ADA, 'terminal')
  const second = await waiting(gate, 'no')
  expect(notes(gate)).toEqual(['yes'])
  const no = { verdict: 'deny', comment: 'not that one' } as const
  await gate.approvals.decide(second.id, no, ADA, 'terminal')
  const after = await PlainClient.open(gate as never, 'agents')
  const ended = await after.value('wasm_agent_wait', { agentId: agent.id, runId, waitMs: 30_000 })
  expect(ended.response).toBe('done')
  const { state } = await after.value('wasm_agent_state', { agentId: agent.id })
  expect(JSON.stringify(state.messages)).toContain('not that one')
  expect(notes(gate)).toEqual(['yes'])
  expect(gate.approvals.find(request.id)?.state).toBe('executed')
})
