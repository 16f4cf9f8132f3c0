// The script of the demonstration (examples/demo/tour.json) on its servers and its policy: it plans, is denied a call
// and waits for an approval, which is what `npm start` shows.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import { ROOT } from '../support/modules.ts'
import { ADA, endOwnGates, ownGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { published, until } from '../support/start-gate.ts'

const DEMO = join(ROOT, 'examples/demo')

afterAll(() => endOwnGates())

test('the demonstration plans, is denied, waits for an approval and ends', async () => {
  const folder = scratchDirectory()
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'hello.txt'), 'hello\n')
  const policy = readFileSync(join(DEMO, 'policy.yaml'), 'utf8')
  const memory = { ...published('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } }
  const servers = {
    agents: { builtin: 'agents' as const },
    filesystem: published('filesystem', workspace),
    memory,
  }
  const gate = await ownGate({ servers, policy }, { agents: agentsFor })
  mkdirSync(join(gate.data, 'scripts'))
  copyFileSync(join(DEMO, 'tour.json'), join(gate.data, 'scripts', 'tour.json'))
  const client = await PlainClient.open(gate, 'agents')
  const { agent } = await client.value('wasm_agent_create', {
    model: 'script:tour',
    tools: ['filesystem/*', 'memory/*'],
  })
  const prompt = { agentId: agent.id, input: 'tidy up', waitMs: 0 }
  const { runId } = await client.value('wasm_agent_prompt', prompt)
  const pending = () => gate.approvals.list({ states: ['pending'] })
  await until(async () => (await pending()).length === 1)
  const [request] = await pending()
  expect(request).toMatchObject({ server: 'memory', name: 'delete_entities', agent: agent.id })
  const { todos } = await client.value('wasm_agent_todos', { agentId: agent.id })
  expect(todos.map(({ status }: { status: string }) => status)).toEqual([
    'completed',
    'cancelled',
    'pending',
  ])
  await gate.approvals.decide(request?.id ?? '', { verdict: 'approve' }, ADA, 'terminal')
  const ended = await client.value('wasm_agent_wait', { agentId: agent.id, runId })
  expect(ended.stop).toMatchObject({ reason: 'answered' })
  const { state } = await client.value('wasm_agent_state', { agentId: agent.id })
  expect(JSON.stringify(state.messages)).toContain('files stay where they are')
  expect(JSON.stringify(state.messages)).toContain('hello\\n')
})
