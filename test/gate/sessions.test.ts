// Sessions over a restart of the gate: with a server over HTTP they go on under the same id, whether
// the gate was stopped or killed; with a process they are over, and the client is told to begin anew.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type FixtureServer, serveFixture } from '../support/fixture-server.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { forms } from '../support/runs.ts'
import { connectClients, countStoredSessions, WEEK_GATE } from '../support/session-week.ts'
import {
  endGates,
  fixture,
  type GateSpec,
  RunningGate,
  type ServingGate,
  startGate,
} from '../support/start-gate.ts'

const TIMEOUT_MS = 180_000
const TEXT = 'test_simple_text'

let servers: GateSpec['servers']
const fixtures: FixtureServer[] = []

beforeAll(async () => {
  fixtures.push(...(await Promise.all([serveFixture('session'), serveFixture('stateless')])))
  const [older, newer] = fixtures.map(({ url }) => ({ url }))
  servers = {
    older: older as { url: string },
    newer: newer as { url: string },
    office: fixture('office'),
  }
}, TIMEOUT_MS)
afterAll(() => {
  for (const { process } of fixtures) process.kill()
})
afterEach(endGates)

/** The same client, at the gate that took over. */
function moved(client: PlainClient, gate: ServingGate, server: string): PlainClient {
  const again = new PlainClient(gate, server)
  again.session = client.session
  return again
}

const policy =
  'version: 1\ndefault: deny\ntools:\n  older/*: { action: allow, rate_limit: { max: 3, window: 1h } }\n  newer/*: allow\n  office/*: allow\n'

test.each(forms(['killed', 'stopped']))(
  'the gate is %s',
  async (how) => {
    const before = await (how === 'stopped' ? serveGate : startGate)({ servers, policy })
    const clients = {
      older: await PlainClient.open(before, 'older'),
      newer: await PlainClient.open(before, 'newer'),
      office: await PlainClient.open(before, 'office'),
    }
    for (const name of ['older', 'newer'] as const)
      expect((await clients[name].call(TEXT)).answer.result.content).toHaveLength(1)
    if (before instanceof RunningGate) await before.kill()
    else await before.stop()
    const after = await serveGate({ servers, policy, folder: before.folder })
    const older = moved(clients.older, after, 'older')
    expect((await older.call(TEXT)).answer.result.content).toHaveLength(1)
    expect((await older.ask('ping')).answer.result).toEqual({})
    expect((await moved(clients.newer, after, 'newer').call(TEXT)).status).toBe(200)
    const gone = await moved(clients.office, after, 'office').call('get_note')
    expect(gone.status).toBe(404)
    // Budgets are as they were: two calls before and after, one is left.
    expect((await older.call(TEXT)).answer.result.isError).toBeUndefined()
    const limited = await older.call(TEXT)
    expect(limited.answer.result._meta['sluice/decision'].code).toBe('RATE_LIMITED')
  },
  TIMEOUT_MS,
)

test(
  'a session that its client has ended is over',
  async () => {
    const gate = await serveGate({ servers })
    const client = await PlainClient.open(gate, 'newer')
    const headers = { 'mcp-session-id': client.session ?? '' }
    expect((await fetch(client.url, { method: 'DELETE', headers })).status).toBe(200)
    expect((await client.call(TEXT)).status).toBe(404)
  },
  TIMEOUT_MS,
)

test(
  'the name of a session is worth nothing at another server, changed, or to another installation',
  async () => {
    const gate = await serveGate({ servers })
    const client = await PlainClient.open(gate, 'newer')
    const name = client.session ?? ''
    const elsewhere = new PlainClient(gate, 'older')
    elsewhere.session = name
    expect((await elsewhere.call(TEXT)).status).toBe(404)
    const changed = new PlainClient(gate, 'newer')
    changed.session = name.slice(0, -2) + (name.endsWith('AA') ? 'BB' : 'AA')
    expect((await changed.call(TEXT)).status).toBe(404)
    const stranger = await serveGate({ servers })
    expect((await moved(client, stranger, 'newer').call(TEXT)).status).toBe(404)
  },
  TIMEOUT_MS,
)

test(
  'what is stored of sessions does not grow with the clients that come and go',
  async () => {
    const gate = await startGate(WEEK_GATE)
    expect(await connectClients(gate, 60)).toBe(60)
    const { sessions } = await sluiceJson(['sessions', 'list', '--data', gate.data])
    expect(sessions.length).toBeLessThanOrEqual(20)
    expect(countStoredSessions(gate)).toBeLessThanOrEqual(20)
  },
  TIMEOUT_MS,
)
