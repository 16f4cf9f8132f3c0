// Clients of 2024-11-05, over HTTP+SSE, through the real gate: a real client that does everything its
// transport can, and what such a client must not be able to do.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { overSse } from '../support/real-client.ts'
import { endGates, fixture, published, type ServingGate, until } from '../support/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools: { everything/get-sum: { action: deny, reason: no sums }, everything/get-env: hide }
`
const EVENTS = { accept: 'text/event-stream' }

let gate: ServingGate
let server: HttpFixture

beforeAll(async () => {
  server = await serveHttp()
  const servers = {
    everything: published('everything'),
    office: fixture('office', './office.log'),
    desk: { url: server.url },
  }
  gate = await serveGate({ servers, policy: POLICY })
})
afterAll(async () => {
  await endGates()
  await server.close()
})

test('a real client lists, calls, is told of progress and asked, under the policy', async () => {
  const { client, close } = await overSse(gate, 'everything')
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('echo')
  expect(tools.map(({ name }) => name)).not.toContain('get-env')
  const echo = await client.callTool({ name: 'echo', arguments: { message: 'old' } })
  expect(echo.content).toEqual([{ type: 'text', text: 'Echo: old' }])
  const sum = await client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })
  expect(sum.content).toEqual([{ type: 'text', text: 'denied by policy: no sums' }])
  const progress: unknown[] = []
  const name = 'trigger-long-running-operation'
  await client.callTool({ name, arguments: { duration: 0.3, steps: 3 } }, undefined, {
    onprogress: (each) => progress.push(each.progress),
  })
  // The last may come with the answer, and the client no longer listens then.
  expect(progress.slice(0, 2)).toEqual([1, 2])
  const asked = { name: 'trigger-sampling-request', arguments: { prompt: 'x', maxTokens: 7 } }
  expect(JSON.stringify(await client.callTool(asked))).toContain('sampled for 7')
  await close()
})

test('several at once, to servers of both kinds; each gets its own answers', async () => {
  const clients = await Promise.all(['desk', 'office', 'desk'].map((name) => overSse(gate, name)))
  const tool = (at: number) => (at === 1 ? 'write_note' : 'echo')
  const calls = clients.flatMap(({ client }, at) =>
    [1, 2, 3, 4].map(async (n) => {
      const text = `${at}.${n}`
      const answer = await client.callTool({ name: tool(at), arguments: { text } })
      expect(JSON.stringify(answer)).toContain(text)
    }),
  )
  await Promise.all(calls)
  await Promise.all(clients.map(({ close }) => close()))
})

test('a client that goes away ends its session, and with it its call', async () => {
  const { client, close } = await overSse(gate, 'office')
  const before = recordsOf(gate).length
  const slow = client.callTool({ name: 'get_slow', arguments: { ms: 60_000 } })
  slow.catch(() => {})
  await until(() => recordsOf(gate).length > before)
  await close()
  await until(() =>
    recordsOf(gate).some((record) => record.kind === 'outcome' && record.seq > before),
  )
})

test('an opened stream starts nothing and lets nobody in', async () => {
  const stream = await fetch(`${gate.url}/mcp/desk`, { headers: EVENTS })
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  const { value = '' } = (await reader?.read()) ?? {}
  const address = /^event: endpoint\ndata: (\S+)\n\n$/.exec(value)?.[1] ?? ''
  expect(address).toMatch(/^\/mcp\/desk\?session=[0-9a-f-]{36}$/)
  const seen = server.seen.length
  const client = new PlainClient(gate, 'desk')
  const post = (path: string) =>
    fetch(`${gate.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}',
    })
  expect((await post(address)).status).toBe(400)
  expect((await post(address.replace('desk', 'office'))).status).toBe(404)
  expect((await post(`${address}0`)).status).toBe(404)
  expect(server.seen.length).toBe(seen)
  await reader?.cancel()
  await until(async () => (await post(address)).status === 404)
  expect((await client.initialize()).status).toBe(200)
  await client.end()
})

test('no page elsewhere opens one, with an Origin or without', async () => {
  const statusOf = async (headers: Record<string, string>) => {
    const { status, body } = await fetch(`${gate.url}/mcp/desk`, { headers })
    await body?.cancel()
    return status
  }
  expect(await statusOf({ ...EVENTS, origin: 'http://evil.example' })).toBe(403)
  expect(await statusOf({ ...EVENTS, 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(await statusOf({ ...EVENTS, 'sec-fetch-site': 'same-site' })).toBe(403)
  expect(await statusOf({ ...EVENTS, 'sec-fetch-site': 'none' })).toBe(200)
  expect(await statusOf({ accept: 'text/html' })).toBe(400)
})
