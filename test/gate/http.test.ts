// The gate's HTTP front against what clients, pages in a browser and attackers send: refused before
// a session or a server hears of it.

import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpFixture, serveHttp } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { rawPost, sendRaw } from '../support/raw-http.ts'
import { endGates, fixture, type ServingGate, until } from '../support/start-gate.ts'

let gate: ServingGate
let server: HttpFixture
/** One session alone uses it, so that its one stream is known. */
let lone: HttpFixture
let port: string

beforeAll(async () => {
  server = await serveHttp()
  lone = await serveHttp()
  const servers = { desk: { url: server.url }, lone: { url: lone.url }, echo: fixture('echo') }
  gate = await serveGate({ servers })
  port = new URL(gate.url).port
})
afterAll(async () => {
  await endGates()
  await server.close()
  await lone.close()
})

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
const JSON_TYPE = 'content-type: application/json'

test('F7: Accept decides the form of an answer, an unknown version is named by its header', async () => {
  const client = await PlainClient.open(gate, 'desk')
  const events = await client.post(PING, { accept: 'text/event-stream' })
  expect(events.headers.get('content-type')).toBe('text/event-stream')
  expect(events.answer).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  expect((await client.post(PING, { accept: 'text/html' })).status).toBe(406)
  const notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  for (const body of [PING, notification]) {
    const refused = await client.post(body, { 'mcp-protocol-version': '1999-01-01' })
    expect(refused.status).toBe(400)
    expect(refused.answer.error.message).toMatch(/header `MCP-Protocol-Version` says `1999-01-01`/)
  }
})

describe('DNS rebinding', () => {
  test.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example:PORT',
    '127.0.0.1:PORT@evil.example',
    '0.0.0.0:PORT',
    'localhost.:PORT',
    'sub.localhost:PORT',
    '127.1:PORT',
    '2130706433:PORT',
    '0x7f.0.0.1:PORT',
    '[::ffff:127.0.0.1]:PORT',
    '[0:0:0:0:0:0:0:1]:PORT',
    '[::1%25lo]:PORT',
    '[::]:PORT',
    '',
  ])('Host %j is refused', async (host) => {
    const headers = [`host: ${host.replace('PORT', port)}`, JSON_TYPE]
    expect(await sendRaw(gate.url, rawPost('/mcp/desk', headers, PING))).toMatch(/^HTTP\/1.1 403 /)
  })

  test.each([
    'https://evil.example',
    'null',
    'http://localhost.evil.example',
    'file://',

    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:80',
    'https://localhost:PORT',
  ])('F16: Origin %j is refused', async (origin) => {
    const headers = [
      `host: 127.0.0.1:${port}`,
      JSON_TYPE,
      `origin: ${origin.replace('PORT', port)}`,
    ]
    const answer = await sendRaw(gate.url, rawPost('/mcp/desk', headers, PING))
    expect(answer).toMatch(/^HTTP\/1.1 403 /)
  })

  test('this machine under its own names is not', async () => {
    for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
      const headers = [`host: localhost:${port}`, JSON_TYPE, `origin: ${origin}`]
      const answer = await sendRaw(gate.url, rawPost('/mcp/desk', headers, PING))
      expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*there is no session/)
    }
  })

  test.runIf(HAS_IPV6)('finding: no other process can be `localhost` at [::1]', async () => {
    expect((await fetch(`http://[::1]:${port}/healthz`)).status).toBe(200)
    const squatter = createServer()
    const code = await new Promise((resolve) => {
      squatter.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      squatter.listen(Number(port), '::1', () => resolve('listens'))
    })
    squatter.close()
    expect(code).toBe('EADDRINUSE')
  })
})

describe('bodies', () => {
  const open = () => PlainClient.open(gate, 'desk')

  test.each([
    [415, { 'content-type': 'text/plain' }],
    [415, { 'content-type': 'application/x-www-form-urlencoded' }],
    [415, { 'content-type': 'application/json; charset=utf-16' }],
    [415, { 'content-type': 'application/json; charset=utf-8; charset=utf-7' }],
    [415, { 'content-type': 'application/json-patch+json' }],
    [415, { 'content-encoding': 'gzip' }],
    [415, { 'content-encoding': 'identity' }],
    [200, { 'content-type': 'Application/JSON; Charset="UTF-8"' }],
    [400, { 'mcp-protocol-version': '2026-07-28' }],
    [400, { 'mcp-protocol-version': '1' }],
    [200, { 'mcp-protocol-version': '2025-06-18' }],
    [200, { 'mcp-method': 'ping' }],
    [400, { 'mcp-method': 'tools/list' }],
    [400, { 'mcp-name': 'ping' }],
    [404, { 'mcp-session-id': 'nobody' }],
  ] as const)('%i for %j', async (status, headers) => {
    const client = await open()
    expect((await client.post(PING, headers)).status).toBe(status)
  })

  test.each([
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['UTF-16', Buffer.from(PING, 'utf16le')],
    ['a byte order mark', Buffer.from(`\ufeff${PING}`)],
    ['nothing', Buffer.from('')],
    ['half a message', Buffer.from(PING.slice(0, 20))],
    ['two messages', Buffer.from(`${PING}\n${PING}`)],
    ['a number no double holds', Buffer.from(PING.replace('1', '1e400'))],
    ['a thousand arrays', Buffer.from('['.repeat(1_000))],
  ])('%s is refused', async (_, body) => {
    const { status, answer } = await (await open()).post(new Uint8Array(body))
    expect(status).toBe(400)
    expect(answer.error.code).toBeLessThan(0)
  })

  test('more than the bound is refused, by its length or as it comes', async () => {
    const client = await open()
    const large = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"${'x'.repeat(17_000_000)}"}}`
    expect((await client.post(large)).status).toBe(413)
    const head = ['POST /mcp/desk HTTP/1.1', `host: 127.0.0.1:${port}`, JSON_TYPE]
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`.repeat(17)
    const chunked = [...head, 'transfer-encoding: chunked', '', chunk].join('\r\n')
    expect(await sendRaw(gate.url, chunked, 3_000)).toMatch(/^HTTP\/1.1 413 /)
  })
})

describe('paths, methods and sessions', () => {
  test.each([
    ['/mcp/nobody', 404],
    ['/mcp/', 404],
    ['/mcp/__proto__', 404],
    ['/mcp/desk/../echo', 400],
    ['/mcp/Desk', 404],
    ['/nothing', 404],
    ['/healthz', 200],
    ['/readyz', 200],
  ])('%s answers %i', async (path, status) => {
    const answer = await sendRaw(
      gate.url,
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })

  test('other methods are not taken', async () => {
    for (const method of ['PUT', 'OPTIONS', 'PATCH'])
      expect((await fetch(`${gate.url}/mcp/desk`, { method })).status).toBe(405)
  })

  test("a session is of its server, and nobody else's", async () => {
    const client = await PlainClient.open(gate, 'desk')
    const other = new PlainClient(gate, 'echo')
    other.session = client.session
    expect((await other.ask('ping')).status).toBe(404)
    await client.end()
    expect((await client.ask('ping')).status).toBe(404)
    expect((await client.initialize()).status).toBe(404)
    client.session = undefined
    expect((await client.initialize()).status).toBe(200)
  })

  test('an id that is still open cannot be used again', async () => {
    const client = await PlainClient.open(gate, 'desk')
    const twice = `[${PING},${PING}]`
    const batching = await PlainClient.open(gate, 'desk', '2025-03-26')
    expect((await batching.post(twice)).status).toBe(400)
    expect((await client.post(twice)).status).toBe(400)
  })

  test('batches are taken in 2025-03-26 only, each call by itself', async () => {
    const calls = [1, 2].map((id) => {
      const params = { name: 'echo', arguments: { id } }
      return { jsonrpc: '2.0', id, method: 'tools/call', params }
    })
    const body = JSON.stringify([...calls, { jsonrpc: '2.0', method: 'notifications/progress' }])
    for (const revision of ['2024-11-05', '2025-06-18', '2025-11-25']) {
      const { status, answer } = await (await PlainClient.open(gate, 'echo', revision)).post(body)
      expect([status, answer.error.message]).toEqual([400, expect.stringContaining('batch')])
    }
    const client = await PlainClient.open(gate, 'echo', '2025-03-26')
    const { answer } = await client.post(body)
    expect(answer.map(({ id }: { id: number }) => id).sort()).toEqual([1, 2])
    const only = await client.post('[{"jsonrpc":"2.0","method":"notifications/progress"}]')
    expect(only.status).toBe(202)
  })
})

describe('the stream of a client', () => {
  test('what was missed comes again, after the last event seen', async () => {
    const client = await PlainClient.open(gate, 'lone')
    await until(() => lone.streams.size > 0)
    for (const stream of lone.streams)
      for (const data of ['a', 'b'])
        stream.write(
          `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })}\n\n`,
        )
    const listen = async (lastEventId: string, last: string): Promise<string> => {
      const aborter = new AbortController()
      const headers = { 'mcp-session-id': client.session ?? '', 'last-event-id': lastEventId }
      const response = await fetch(client.url, { headers, signal: aborter.signal })
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let received = ''
      while (!received.includes(last)) {
        const { value } = (await reader?.read()) ?? {}
        if (value === undefined) break
        received += value
      }
      aborter.abort()
      return received
    }
    expect(await listen('', '"data":"b"')).toMatch(/"data":"a".*"data":"b"/s)
    expect(await listen('g1', '"data":"b"')).toMatch(/^(?!.*"data":"a").*"data":"b"/s)
    // Without an id nothing is told twice.
    await expect(Promise.race([listen('', 'data'), nothingWithin(300)])).resolves.toBe('nothing')
  })
})

function nothingWithin(waitMs: number): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve('nothing'), waitMs))
}
