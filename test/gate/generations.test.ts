// The two generations of MCP through the gate: clients of 2026-07-28 and clients with sessions, each in
// front of servers that speak only the other, over HTTP and as processes. What a server asks in the
// middle of a call arrives, and handles of one call or caller are worth nothing to another.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIXTURE, type FixtureServer, serveFixture } from '../support/fixture-server.ts'
import { ROOT } from '../support/modules.ts'
import { serveGate } from '../support/own-gate.ts'
import { recordsOf } from '../support/plain-client.ts'
import { throughGate } from '../support/real-client.ts'
import { endGates, NODE, type ServingGate } from '../support/start-gate.ts'
import { postStateless, statelessClient } from '../support/stateless-client.ts'

const TIMEOUT_MS = 180_000
const INPUT = 'test_input_required_result_elicitation'

let gate: ServingGate
const fixtures: FixtureServer[] = []

beforeAll(async () => {
  fixtures.push(...(await Promise.all([serveFixture('session'), serveFixture('stateless')])))
  const [older = '', newer = ''] = fixtures.map(({ url }) => url)
  const servers = {
    older: { url: older },
    newer: { url: newer },
    'older-process': {
      command: [
        NODE,
        join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
      ],
    },
    'newer-process': { command: [NODE, FIXTURE, '--stdio', '--generation', 'stateless'] },
  }
  const limited = '{ action: allow, rate_limit: { max: 1, window: 1h } }'
  const policy = `version: 1
default: allow
tools:
  newer/${INPUT}: ${limited}
  newer/test_error_handling: { action: deny, reason: not here }
  newer/test_image_content: { action: hide }
`
  gate = await serveGate({ servers, policy })
}, TIMEOUT_MS)

afterAll(async () => {
  await endGates()
  for (const { process } of fixtures) process.kill()
})

const textOf = (result: unknown) => JSON.stringify(result)

describe('a client of 2026-07-28', { timeout: TIMEOUT_MS }, () => {
  test.each(['older', 'newer', 'newer-process', 'older-process'])(
    'lists and calls: %s',
    async (server) => {
      const client = await statelessClient(gate, server)
      const { tools } = await client.listTools()
      expect(tools.length).toBeGreaterThan(5)
      const isEverything = server === 'older-process'
      const name = isEverything ? 'echo' : 'test_simple_text'
      const result = await client.callTool({
        name,
        arguments: isEverything ? { message: 'hi' } : {},
      })
      expect(result.content).toHaveLength(1)
      await client.close()
    },
  )

  test.each(['older', 'older-process'])(
    'is asked by a server with sessions: %s',
    async (server) => {
      const client = await statelessClient(gate, server)
      const [sampling, asking] =
        server === 'older'
          ? ['test_sampling', 'test_elicitation']
          : ['trigger-sampling-request', 'trigger-elicitation-request']
      const sampled = await client.callTool({
        name: sampling,
        arguments: { prompt: 'a?', maxTokens: 9 },
      })
      expect(textOf(sampled)).toContain('sampled')
      const asked = await client.callTool({ name: asking, arguments: { message: 'who?' } })
      expect(textOf(asked)).toMatch(/ada|accept/)
      await client.close()
    },
  )

  test('is told of progress by a server with sessions', async () => {
    const client = await statelessClient(gate, 'older')
    const steps: number[] = []
    await client.callTool(
      { name: 'test_tool_with_progress', arguments: {} },
      { onprogress: ({ progress }) => void steps.push(progress) },
    )
    expect(steps.length).toBeGreaterThan(1)
    await client.close()
  })

  test('what policy says holds: denied, hidden as unknown, and not to be cached', async () => {
    const denied = await postStateless(gate, 'newer', 'tools/call', { name: 'test_error_handling' })
    expect(denied.answer.result).toMatchObject({ isError: true, resultType: 'complete' })
    const hidden = await postStateless(gate, 'newer', 'tools/call', { name: 'test_image_content' })
    const unknown = await postStateless(gate, 'newer', 'tools/call', { name: 'test_image_contenu' })
    expect(hidden.text.replaceAll('content', 'contenu')).toBe(unknown.text)
    const { answer } = await postStateless(gate, 'newer', 'tools/list')
    expect(answer.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
    expect(textOf(answer.result)).not.toContain('"test_image_content"')
  })

  test('headers that say another call than the body are refused', async () => {
    const call = { name: 'test_simple_text' }
    const post = (headers: Record<string, string | undefined>) =>
      postStateless(gate, 'newer', 'tools/call', call, headers)
    for (const headers of [
      { 'mcp-name': 'test_error_handling' },
      { 'mcp-name': undefined },
      { 'mcp-method': 'tools/list' },
      { 'mcp-param-region': 'eu' },
      { 'mcp-protocol-version': '2025-11-25' },
    ]) {
      const { status, answer } = await post(headers)
      expect([status, answer.error.code]).toEqual([400, -32020])
    }
    expect((await post({})).status).toBe(200)
  })
})

describe('a call that goes on', { timeout: TIMEOUT_MS }, () => {
  const answers = { user_name: { action: 'accept', content: { name: 'ada' } } }

  test('counts once, and its state is good for one return of this very call', async () => {
    const first = await postStateless(gate, 'newer', 'tools/call', { name: INPUT, arguments: {} })
    const { requestState } = first.answer.result
    expect(first.answer.result.resultType).toBe('input_required')
    const other = await postStateless(gate, 'newer', 'tools/call', {
      name: INPUT,
      arguments: { x: 1 },
      inputResponses: answers,
      requestState,
    })
    expect(other.answer.error.code).toBe(-32602)
    const back = { name: INPUT, arguments: {}, inputResponses: answers, requestState }
    const second = await postStateless(gate, 'newer', 'tools/call', back)
    expect(textOf(second.answer.result)).toContain('ada')
    const third = await postStateless(gate, 'newer', 'tools/call', back)
    expect(third.answer.result._meta['sluice/decision'].code).toBe('RATE_LIMITED')
    const asked = recordsOf(gate).filter(
      (record) => record.kind === 'intent' && record.method === 'elicitation/create',
    )
    expect(asked.length).toBeGreaterThan(0)
  })

  test('a state nobody gave, and a cursor nobody gave, are refused', async () => {
    const params = { name: INPUT, arguments: {}, inputResponses: answers, requestState: 's1.AAAA' }
    const forged = await postStateless(gate, 'newer', 'tools/call', params)
    expect(forged.answer.error.code).toBe(-32602)
    const cursor = await postStateless(gate, 'newer', 'tools/list', { cursor: 'abc' })
    expect(cursor.answer.error.code).toBe(-32602)
  })

  test('with a server with sessions: the state is good once', async () => {
    const params = { name: 'test_elicitation', arguments: { message: 'who?' } }
    const first = await postStateless(gate, 'older', 'tools/call', params)
    const { inputRequests, requestState } = first.answer.result
    const [key = ''] = Object.keys(inputRequests)
    const inputResponses = { [key]: { action: 'decline' } }
    const back = { ...params, inputResponses, requestState }
    const second = await postStateless(gate, 'older', 'tools/call', back)
    expect(textOf(second.answer.result)).toContain('decline')
    const third = await postStateless(gate, 'older', 'tools/call', back)
    expect(third.answer.error.message).toMatch(/is over/)
  })
})

describe('a client with a session', { timeout: TIMEOUT_MS }, () => {
  test.each(['newer', 'newer-process'])(
    'lists, calls and is asked by a server of 2026-07-28: %s',
    async (server) => {
      const { client, close } = await throughGate(gate, server)
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toContain('test_simple_text')
      const called = await client.callTool({ name: 'test_simple_text', arguments: {} })
      expect(called.content).toHaveLength(1)
      const asked = await client.callTool({
        name: 'test_input_required_result_sampling',
        arguments: {},
      })
      expect(textOf(asked)).toContain('sampled for')
      expect((await client.ping()) !== undefined).toBe(true)
      const { resources } = await client.listResources()
      expect(resources.length).toBeGreaterThan(0)
      await close()
    },
  )

  test('hears of changes on its stream', async () => {
    const { client, notifications, close } = await throughGate(gate, 'newer')
    const { tools } = await client.listTools()
    const trigger = tools.find(({ name }) => /trigger.*tool|tool.*chang/.test(name))?.name
    expect(trigger).toBeDefined()
    await new Promise((resolve) => setTimeout(resolve, 500))
    await client.callTool({ name: trigger ?? '', arguments: {} })
    await expect
      .poll(() => notifications.map(({ method }) => method))
      .toContain('notifications/tools/list_changed')
    await close()
  })
})
