// All servers at once for clients of 2026-07-28, in front of servers of either generation: what they are is
// discovered together, subscriptions are one at each, a call that wants input goes on where it began,
// and handles of one server are worth nothing at another.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pipeTo } from '../support/line-pipe.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  endGates,
  fixture,
  NODE,
  programFile,
  type ServingGate,
  until,
} from '../support/start-gate.ts'
import { listenStateless, postStateless, statelessClient } from '../support/stateless-client.ts'

const ALL = ''
const INPUT = 'test_input_required_result_elicitation'
const newer = [NODE, programFile('serve', 'conformance'), '--stdio', '--generation', 'stateless']
const servers = {
  newer: { command: newer },
  a: fixture('clerk', 'a'),
  b: fixture('clerk', 'b'),
  dead: { command: ['sluice-no-such-program'] },
}
const POLICY = `
version: 1
default: allow
tools:
  "*/get_hidden": hide
  newer/${INPUT}: { action: allow, rate_limit: { max: 1, window: 1h } }
`

let gate: ServingGate

beforeAll(async () => {
  gate = await serveGate({ servers, policy: POLICY })
}, 180_000)
afterAll(endGates)

const post = (method: string, params: Record<string, unknown> = {}) =>
  postStateless(gate, ALL, method, params)
const call = (name: string, rest: Record<string, unknown> = {}) =>
  post('tools/call', { name, arguments: {}, ...rest })

describe('a client of 2026-07-28', { timeout: 180_000 }, () => {
  test('discovers them together, and is not to keep it', async () => {
    const { answer } = await post('server/discover')
    expect(answer.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      ttlMs: 0,
      cacheScope: 'private',
      capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'sluice' } },
    })
    expect(answer.result.instructions).toContain('# Server a ')
    expect(answer.result.instructions).toContain('Not there at the moment: dead.')
  })

  test('lists and calls tools of servers of either generation, and is asked by both', async () => {
    const client = await statelessClient(gate, ALL)
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toContain('newer__test_simple_text')
    expect(names).toContain('a__whoami')
    expect(names).not.toContain('a__get_hidden')
    const text = async (name: string) =>
      JSON.stringify(await client.callTool({ name, arguments: {} }))
    expect(await text('newer__test_simple_text')).toContain('text')
    expect(await text('b__whoami')).toContain('b: ')
    expect(await text('newer__test_input_required_result_sampling')).toContain('sampled')
    expect(await text('b__ask')).toContain('a-root')
    const read = await client.readResource({ uri: 'mem://b' })
    expect(read.contents[0]).toMatchObject({ text: 'b' })
    const prompt = await client.getPrompt({ name: 'a__greet' })
    expect(JSON.stringify(prompt)).toContain('a greet')
    await client.close()
  })

  test('a hidden name is as unknown as any', async () => {
    const unknown = await call('nobody__tool')
    expect(unknown.answer.error).toEqual({ code: -32602, message: 'Unknown tool: nobody__tool' })
    for (const name of ['a__get_hidden', 'a__no_such_tool', 'newer__nothing', 'plain']) {
      const { status, text } = await call(name)
      expect(text).toBe(unknown.text.replace('nobody__tool', name))
      expect(status).toBe(unknown.status)
    }
    const resource = await post('resources/read', { uri: 'mem://both' })
    expect(resource.answer.error).toEqual({
      code: -32602,
      message: expect.stringContaining('Resource not found: mem://both; several servers have it'),
    })
  })

  test('tasks are for clients that say they know them', async () => {
    const { status, answer } = await post('tasks/get', { taskId: 'a:t-1' })
    expect([status, answer.error.code]).toEqual([400, -32021])
    const { extensions } = answer.error.data.requiredCapabilities
    expect(extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} })
  })

  test('methods of sessions are not known, with the status that says so', async () => {
    for (const method of ['ping', 'logging/setLevel', 'made/up']) {
      const { status, answer } = await post(method)
      expect([status, answer.error.code]).toEqual([404, -32601])
    }
  })

  test('headers that say another call than the body are refused', async () => {
    const params = { name: 'a__whoami' }
    const headers = { 'mcp-name': 'b__whoami' }
    const { status, answer } = await postStateless(gate, ALL, 'tools/call', params, headers)
    expect([status, answer.error.code]).toEqual([400, -32020])
    const extra = { 'mcp-param-region': 'eu' }
    const declared = await postStateless(gate, ALL, 'tools/call', params, extra)
    expect([declared.status, declared.answer.error.code]).toEqual([400, -32020])
    const wants = { name: 'newer__test_param_header', arguments: { region: 'eu' } }
    const right = await postStateless(gate, ALL, 'tools/call', wants, extra)
    expect(JSON.stringify(right.answer.result)).toContain('eu')
    for (const region of [undefined, 'us']) {
      const wrong = { 'mcp-param-region': region }
      const { status, answer } = await postStateless(gate, ALL, 'tools/call', wants, wrong)
      expect([status, answer.error.code]).toEqual([400, -32020])
    }
  })

  test('a tool that wants headers in a way the protocol does not have is left out', async () => {
    const { answer } = await post('tools/list')
    const names = (answer.result.tools as { name: string }[]).map(({ name }) => name)
    expect(names).toContain('a__whoami')
    expect(names).not.toContain('a__odd')
    expect((await call('a__odd')).answer.error.message).toBe('Unknown tool: a__odd')
    expect(gate.log).toMatch(/left out: `x-mcp-header` of `odd` is wrong/)
    // A session has no such headers: there it is a tool like any.
    const session = await PlainClient.open(gate, 'a')
    const listed = await session.ask('tools/list')
    expect(JSON.stringify(listed.answer.result)).toContain('"odd"')
    await session.end()
  })

  test('a call that wants input goes on where it began, once, and at no other server', async () => {
    const inputResponses = { user_name: { action: 'accept', content: { name: 'ada' } } }
    const first = await call(`newer__${INPUT}`)
    const { resultType, requestState } = first.answer.result
    expect(resultType).toBe('input_required')
    const elsewhere = await call('a__whoami', { inputResponses, requestState })
    expect(elsewhere.answer.error.code).toBe(-32602)
    const second = await call(`newer__${INPUT}`, { inputResponses, requestState })
    expect(JSON.stringify(second.answer.result)).toContain('ada')
    const third = await call(`newer__${INPUT}`, { inputResponses, requestState })
    expect(third.answer.result._meta['sluice/decision'].code).toBe('RATE_LIMITED')
  })

  test('a subscription is one at each server, under the id that the client knows', async () => {
    const wanted = { toolsListChanged: true, resourceSubscriptions: ['mem://a', 'mem://nobody'] }
    const { received, close } = await listenStateless(gate, ALL, wanted)
    await until(() => received.length >= 2)
    const [acknowledged, ...rest] = received
    expect(acknowledged).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['mem://a'] },
        _meta: { 'io.modelcontextprotocol/subscriptionId': 7 },
      },
    })
    expect(rest[0]).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'mem://a', _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } },
    })
    const changes = () =>
      received.filter(({ method }) => method.endsWith('tools/list_changed')).length
    await call('newer__test_trigger_tool_change')
    await until(() => changes() > 0)
    const before = changes()
    await call('b__change')
    await until(() => changes() > before + 1)
    expect(received.some(({ method }) => method.includes('prompts'))).toBe(false)
    close()
    expect((await call('a__whoami')).answer.result.content).toHaveLength(1)
  })

  test('a pipe is the same, and a subscription on it ends when it is cancelled', async () => {
    const { say, heard, answerTo, close } = await pipeTo(gate)
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const ask = (id: number, method: string, params: object = {}) =>
      say({ id, method, params: { ...params, _meta } })
    ask(1, 'tools/call', { name: 'b__whoami', arguments: {} })
    expect(JSON.stringify((await answerTo(1)).result)).toContain('b: ')
    ask(2, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
    const changes = () =>
      heard.filter(({ method }) => method === 'notifications/tools/list_changed')
    await until(() => heard.some(({ method }) => method?.endsWith('/acknowledged')))
    ask(3, 'tools/call', { name: 'b__change', arguments: {} })
    await until(() => changes().length > 0)
    const meta = changes()[0]?.params?._meta
    expect(meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 2 })
    await answerTo(3)
    say({ method: 'notifications/cancelled', params: { requestId: 2 } })
    ask(4, 'tools/call', { name: 'a__whoami', arguments: {} })
    await answerTo(4)
    const before = changes().length
    ask(5, 'tools/call', { name: 'b__change', arguments: {} })
    await answerTo(5)
    expect(changes()).toHaveLength(before)
    close()
  })

  test('a server that ends is begun anew, and the others go on', async () => {
    expect((await call('a__die')).answer.error.message).toContain('code 3')
    expect((await call('b__count')).answer.result.content).toHaveLength(1)
    await until(async () => (await call('a__count')).answer.result !== undefined, 20_000)
  })
})
