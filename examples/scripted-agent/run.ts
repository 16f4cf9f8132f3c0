// An agent in a WebAssembly sandbox, with a scripted model in place of a real one: what it does to the
// world passes the gate as a call of its owner.

import { deepStrictEqual, match } from 'node:assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withGate } from '../support/gate.ts'

const policy = `
version: 1
default: allow
tools:
  shop/delete_customer: { action: deny, when: agent != null, otherwise: allow, reason: not by an agent }
`
const turns = [
  { toolCalls: [{ name: 'write_file', input: { path: 'plan.txt', content: 'refund, delete' } }] },
  { toolCalls: [{ name: 'shop__create_refund', input: { amount: 20 } }] },
  { toolCalls: [{ name: 'shop__delete_customer', input: { customer: 'A-1' } }] },
  { text: 'refunded; deleting is not permitted' },
]

function writeScript(data: string): void {
  mkdirSync(join(data, 'scripts'), { recursive: true })
  writeFileSync(join(data, 'scripts', 'clerk.json'), JSON.stringify({ turns }))
}

await withGate({ policy, servers: { agents: { builtin: 'agents' } } }, async (gate) => {
  writeScript(gate.data)
  const agents = await gate.connect('agents')
  const made = await agents.call('wasm_agent_create', { model: 'script:clerk', tools: ['shop/*'] })
  const { agent } = JSON.parse(made.text) as { agent: { id: string } }
  const ended = await agents.call('wasm_agent_prompt', { agentId: agent.id, input: 'begin' })
  match(ended.text, /refunded; deleting is not permitted/)
  const state = await agents.call('wasm_agent_state', { agentId: agent.id })
  match(state.text, /create_refund: 20/)
  match(state.text, /not by an agent/)

  // The same call by a person's client is not an agent's.
  const shop = await gate.connect('shop')
  const deleted = await shop.call('delete_customer', { customer: 'A-1' })
  deepStrictEqual(deleted.code, undefined)
})
