// `sluice call`: one call through a real gate, decided like that of any client.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { recordsOf } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { endGates, fixture, type ServingGate } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: deny
tools:
  office/write_note: { action: allow, when: 'args.text != "no"' }
  agents/wasm_agent_list: allow
`
let gate: ServingGate
const call = (...words: string[]) => sluice(['call', ...words, '--data', gate.data])

beforeAll(async () => {
  const servers = { office: fixture('office'), agents: { builtin: 'agents' as const } }
  gate = await serveGate({ servers, policy: POLICY })
}, 60_000)
afterAll(endGates)

test('an allowed call prints the answer, and is recorded', async () => {
  expect(await call('office/write_note', '{"text": "hi"}')).toMatchObject({
    code: 0,
    stdout: 'write_note {"text":"hi"}\n',
  })
  const whole = await call('office/write_note', '{"text": "hi"}', '--json')
  expect(JSON.parse(whole.stdout)).toMatchObject({ content: [{ type: 'text' }] })
  expect(JSON.stringify(recordsOf(gate))).toMatch(/"principal":"local".*"name":"write_note"/)
  const agents = await call('agents/wasm_agent_list', '--json')
  expect(JSON.parse(agents.stdout).structuredContent).toMatchObject({ agents: [] })
})

test('a denied call ends with 1 and the reason of the gate', async () => {
  const denied = await call('office/write_note', '{"text": "no"}')
  expect(denied).toMatchObject({ code: 1, stdout: expect.stringContaining('denied by policy') })
  expect(await call('agents/wasm_agent_create')).toMatchObject({ code: 1 })
})

test.each([
  [['office'], '`office` is no tool'],
  [['/office'], '`/office` is no tool'],
  [['office/write_note', '{text: 1}'], 'the arguments are `{text: 1}`, and no JSON object'],
  [['office/write_note', '[1]'], 'and no JSON object'],
  [['nope/write_note'], 'no server is called `nope`'],
])('bad input: %j', async (words, why) => {
  const { code, stderr } = await call(...words)
  expect([code !== 0, stderr]).toEqual([true, expect.stringContaining(why)])
})

test('without a gate it says so', async () => {
  const { code, stderr } = await sluice(['call', 'office/write_note', '--data', gate.folder])
  expect([code !== 0, stderr]).toEqual([true, expect.stringContaining('no gate runs on')])
})
