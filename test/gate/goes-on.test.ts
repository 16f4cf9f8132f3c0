// Sessions over a restart of the gate as their server over HTTP sees them: one session that goes on,
// in which nothing comes twice. What their client sees is in sessions.test.ts, what happens under
// load in kill.test.ts.

import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { type HttpFixture, serveHttp, writeEvent } from '../servers/http.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { endGates, type ServingGate } from '../support/start-gate.ts'

let server: HttpFixture
let gate: ServingGate

beforeEach(async () => {
  server = await serveHttp({ session: 'theirs-1' })
  gate = await serveGate({ servers: servers() })
})
afterEach(() => server.close())
afterAll(endGates)

const servers = () => ({ desk: { url: server.url } })

/** The same data, another process. */
async function restart(): Promise<void> {
  await gate.stop()
  gate = await serveGate({ servers: servers(), folder: gate.folder })
}

function again(before: PlainClient, name: string): PlainClient {
  const client = new PlainClient(gate, name)
  client.session = before.session
  return client
}

const seen = (word: string): number => server.seen.filter(({ body }) => body.includes(word)).length

test('a session with a server over HTTP goes on, twice', async () => {
  const first = await PlainClient.open(gate, 'desk')
  await first.call('echo', { n: 0 })
  let client = first
  for (const n of [1, 2]) {
    await restart()
    client = again(first, 'desk')
    const { answer } = await client.call('echo', { n })
    expect(answer.result.content[0].text).toBe(JSON.stringify({ n }))
  }
  expect(seen('"initialize"')).toBe(1)
  const requests = server.seen.filter(({ method }) => method === 'POST')
  const sessions = requests.slice(1).map(({ headers }) => headers['mcp-session-id'])
  expect(new Set(sessions)).toEqual(new Set(['theirs-1']))
  expect(requests.at(-1)?.headers['mcp-protocol-version']).toBe('2025-11-25')
  // No id of a request comes twice in their session.
  const ids = requests.map(({ body }) => JSON.parse(body).id).filter((id) => id !== undefined)
  expect(new Set(ids).size).toBe(ids.length)
  expect(server.seen.some(({ method }) => method === 'DELETE')).toBe(false)
  await client.end()
})

test('what the server says by itself arrives, also for a client that counted before', async () => {
  const first = await PlainClient.open(gate, 'desk')
  await restart()
  const client = again(first, 'desk')
  await client.ask('ping')
  const headers = { 'mcp-session-id': client.session ?? '', 'last-event-id': 'g40' }
  const stream = await fetch(client.url, { headers })
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (const each of server.streams)
    writeEvent(each, { method: 'notifications/message', params: { level: 'info', data: 'new' } })
  const { value } = (await reader?.read()) ?? {}
  expect(value).toContain('"data":"new"')
  await reader?.cancel()
})

test('a server that has forgotten the session is told of once, and the client begins again', async () => {
  const first = await PlainClient.open(gate, 'desk')
  server.behaviour.session = 'theirs-2'
  await restart()
  const client = again(first, 'desk')
  const { answer } = await client.call('echo', { n: 1 })
  expect(answer.error.code).toBeLessThan(0)
  expect((await client.call('echo', { n: 1 })).status).toBe(404)
  client.session = undefined
  expect((await client.initialize()).status).toBe(200)
  expect((await client.call('echo', { n: 2 })).answer.result).toBeDefined()
})
