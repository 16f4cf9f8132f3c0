// What a model server says badly: ids that are not unique, numbers that no double holds. A real HTTP
// process that plays turns, a real MCP server behind a stand-in gate.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { programFile } from '../support/start-gate.ts'
import { type ModelServer, modelServer, settingsOf } from './model-server.ts'
import { type StandIn, standInGate } from './stand-in-gate.ts'

const COUNTER = programFile('counter')
const LONG = { timeout: 180_000 }

const scratch = fileScratchDirectory()
const log = join(scratch, 'calls.log')
let model: ModelServer
let gate: StandIn
let service: Service

beforeAll(async () => {
  model = await modelServer(scratch)
  gate = await standInGate('count', [process.execPath, COUNTER, log])
  const models = settingsOf({ local: { url: model.url } })
  service = await Service.start({ directory: join(scratch, 'data'), models, gate })
}, 180_000)

afterAll(async () => {
  await service.close()
  await gate.close()
  model.stop()
})

test('M6: two tool calls of one turn with one id are each made once', LONG, async () => {
  const calls = (id: string, ...texts: string[]) =>
    texts.map((note) => ({ name: 'count__write', input: { note }, id }))
  const name = model.plays([
    { toolCalls: [...calls('c1', 'refund A', 'pay B'), ...calls('c1_2', 'pay C')] },
    { toolCalls: calls('', 'pay D', 'pay E') },
    { toolCalls: calls('c1', 'pay F') },
    { text: 'done' },
  ])
  const { id } = await service.create('me', { model: name, tools: ['count/*'] })
  await service.prompt('me', id, { input: 'go' })
  const made = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).arguments.note)
  expect(made.sort()).toEqual(['pay B', 'pay C', 'pay D', 'pay E', 'pay F', 'refund A'])
  const [, second] = model.requests(name)
  const results = (second?.messages ?? []).filter(({ role }) => role === 'tool') as object[]
  const ids = results.map((each) => (each as { tool_call_id: string }).tool_call_id)
  expect(new Set(ids).size).toBe(3)
})

test('half a character of a model is mended: it can be told, sent and exported', LONG, async () => {
  const input = { note: 'x\ud800', '\udfffkey': ['\\ud800', '😀\ud83d'] }
  const name = model.plays([
    { text: 'one\ud800', toolCalls: [{ name: 'count__write', input }] },
    { text: 'two \udc00 😀' },
  ])
  const { id } = await service.create('me', { model: name, tools: ['count/*'] })
  const before = gate.calls.length
  const answer = await service.prompt('me', id, { input: 'go' })
  expect(answer).toMatchObject({ response: 'two \ufffd 😀' })
  expect(gate.calls.slice(before).map(({ args }) => args)).toEqual([
    { note: 'x\ufffd', '\ufffdkey': ['\\ud800', '😀\ufffd'] },
  ])
  const { exported } = await service.export('me', id, 'json', 'redact')
  const text = JSON.stringify(exported)
  expect(text).toContain('one\ufffd')
  expect(text).not.toMatch(/[^\\]\\ud[89a-f]/)
})

test('a number that no double holds is refused, not rounded', LONG, async () => {
  const before = gate.calls.length
  const call = (json: string) => ({ name: 'count__write', json })
  const name = model.plays([
    { toolCalls: [call('{"amount":9007199254740993}'), call('{"amount":9007199254740992}')] },
    { text: 'done' },
  ])
  const { id } = await service.create('me', { model: name, tools: ['count/*'] })
  await service.prompt('me', id, { input: 'go' })
  const made = gate.calls.slice(before).map(({ args }) => args)
  expect(made).toEqual([{ amount: 9007199254740992 }])
  const [, second] = model.requests(name)
  const results = (second?.messages ?? []).filter(({ role }) => role === 'tool')
  expect(String(results[0]?.content)).toContain('9007199254740993 cannot be kept exactly')
})
