// The story, once over HTTP and once over stdio, through one gate with a model server that speaks
// OpenAI's chat completions: create, prompt (file writes, todos, a program that poisons what it runs
// in, a denied tool and a held one), kill -9 while the call is held, restart, the verdict, todos,
// is_stopped, files, export, import elsewhere, and on.

import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { atTerminal } from '../support/person.ts'
import { PlainClient, sentTo } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { forms } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'
import { type ModelServer, modelServer } from './model-server.ts'
import { serve } from './serve.ts'

const TIMEOUT_MS = 180_000
const POLICY = `
version: 1
default: allow
tools:
  office/delete_all: { action: deny, reason: not by an agent, when: agent != null, otherwise: allow }
  office/create_payment: { action: require_approval, reason: money leaves, approval: { wait: 1s } }
`
const POISON = `
  Array.prototype.map = Array.prototype.push = () => { throw new Error('poisoned') }
  JSON.parse = () => ({ ended: 'poisoned' })
  Object.prototype.toJSON = undefined
  return 1`
const PROGRAM = `
  const noted = await tools.office.write_note({ text: files.read('plan.txt') })
  files.write('out/result.txt', 'made by a program')
  return typeof noted`

const turns = (amount: number) => [
  {
    toolCalls: [
      { name: 'write_file', input: { path: './plan.txt', content: `plan ${amount}` } },
      { name: 'write_todos', input: { todos: ['pay', { content: 'plan', status: 'completed' }] } },
    ],
  },
  {
    toolCalls: [
      { name: 'run_code', input: { code: POISON } },
      { name: 'run_code', input: { code: PROGRAM } },
    ],
  },
  {
    toolCalls: [
      { name: 'office__delete_all', input: { all: true } },
      { name: 'office__create_payment', input: { amount } },
    ],
  },
  { text: 'paid' },
  { text: 'and on' },
]

const scratch = fileScratchDirectory()
let model: ModelServer
let gate: RunningGate

const start = (folder?: string) =>
  startGate({
    servers: { agents: { builtin: 'agents' }, office: fixture('office', './office.log') },
    policy: POLICY,
    config: { models: { local: { url: model.url } } },
    ...(folder === undefined ? {} : { folder }),
  })

beforeAll(async () => {
  model = await modelServer(scratch)
  gate = await start()
  await atTerminal(gate.data)
}, TIMEOUT_MS)

afterAll(async () => {
  model.stop()
  await endGates()
})

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
type Call = (name: string, args: object) => Promise<any>

const WAYS: readonly { name: string; amount: number; open: () => Promise<Call> }[] = [
  {
    name: 'stdio',
    amount: 11,
    open: async () => {
      const client = new Client({ name: 'story', version: '1' })
      const config = join(gate.folder, 'sluice.yaml')
      const args = [SLUICE, 'stdio', '--server', 'agents', '--config', config]
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }),
      )
      return async (name, given) => {
        const result = await client.callTool({ name, arguments: { ...given } })
        if (result.isError) throw new Error(JSON.stringify(result))
        return result.structuredContent
      }
    },
  },
  {
    name: 'HTTP',
    amount: 22,
    open: async () => {
      const client = await PlainClient.open(gate, 'agents')
      return async (name, args) => {
        const { answer, text } = await client.call(name, args)
        if (answer.result?.isError !== undefined) throw new Error(text)
        return answer.result.structuredContent
      }
    },
  },
]

/** Its parts over HTTP are in server.test.ts. */
const TRIED = forms(WAYS)

const payments = () =>
  sentTo(gate.folder).flatMap(({ params }) =>
    params?.name === 'create_payment' ? [params.arguments.amount] : [],
  )

test(`the story over ${TRIED.map(({ name }) => name).join(' and over ')}`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const begun = await Promise.all(
    TRIED.map(async (way) => {
      const call = await way.open()
      const plays = model.plays(turns(way.amount))
      const { agent } = await call('wasm_agent_create', { model: plays, tools: ['office/*'] })
      const agentId: string = agent.id
      const first = await call('wasm_agent_prompt', { agentId, input: 'pay', waitMs: 1 })
      expect(first.runId).toBeTypeOf('string')
      const state = async () =>
        (await call('wasm_agent_wait', { agentId, runId: first.runId, waitMs: 1 })).state
      await until(async () => (await state()) === 'waiting', TIMEOUT_MS)
      return { ...way, agentId, runId: first.runId as string }
    }),
  )
  expect(payments()).toEqual([])

  await gate.kill()
  gate = await start(gate.folder)
  const at = ['--data', gate.data]
  const { requests } = await sluiceJson(['approvals', 'list', ...at])
  expect(requests).toHaveLength(TRIED.length)
  for (const { id } of requests as { id: string }[])
    expect(await sluice(['approvals', 'approve', id, ...at])).toMatchObject({ code: 0 })

  const elsewhere = await serve(join(scratch, 'elsewhere'), ['--provider', `local=${model.url}`])
  for (const { agentId, runId, amount, open } of begun) {
    const call = await open()
    const ended = await call('wasm_agent_wait', { agentId, runId, waitMs: 60_000 })
    expect(ended).toMatchObject({ response: 'paid', turns: 4, stop: { reason: 'answered' } })
    const { counts, todos } = await call('wasm_agent_todos', { agentId })
    expect(counts).toMatchObject({ pending: 1, completed: 1 })
    expect(await call('wasm_agent_is_stopped', { agentId })).toMatchObject({
      isStopped: false,
      turnCount: 4,
    })
    const { files } = await call('wasm_agent_files', { agentId })
    const paths = (files as { path: string }[]).map(({ path }) => path)
    expect(paths).toEqual(['out/result.txt', 'plan.txt'])
    const { state } = await call('wasm_agent_state', { agentId })
    expect(JSON.stringify(state.messages)).toContain('not by an agent')
    const exported = await call('wasm_agent_export', { agentId })
    expect(payments().filter((each) => each === amount)).toEqual([amount])

    const { agent, restored } = await elsewhere.call('wasm_agent_import', { bundle: exported })
    expect(restored).toBe('json')
    const there = { agentId: (agent as { id: string }).id }
    expect((await elsewhere.call('wasm_agent_todos', there)).todos).toEqual(todos)
    const on = await elsewhere.call('wasm_agent_prompt', { ...there, input: 'and now?' })
    expect(on).toMatchObject({ response: 'and on', turns: 1 })
    // Where it came from goes on as well.
    const here = await call('wasm_agent_prompt', { agentId, input: 'and now?' })
    expect(here).toMatchObject({ response: 'and on', turns: 1 })
  }
  await elsewhere.close()
  expect(payments().sort()).toEqual(TRIED.map(({ amount }) => amount))
})
