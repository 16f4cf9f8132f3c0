// S5 with kills: the gates at which an approval was asked for, decided and used are killed or stopped right
// after. The call is made once, and never again. And what the console of the gate that is left shows.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import type { Overview, SettingsView } from '../../packages/console/src/contract/contract.ts'
import {
  countOverview,
  readFigures,
} from '../../packages/console/src/queries/overview.test-support.ts'
import { decode } from '../../packages/ledger/src/records/decoding.ts'
import type { LedgerRecord } from '../../packages/ledger/src/records/record.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { readChain } from '../../packages/ledger/src/store/postgres/read-chain.ts'
import { ADA, endOwnGates, ownGate, serveGate } from '../support/own-gate.ts'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, type ServingGate, startGate, until } from '../support/start-gate.ts'

const postgres = findPostgres()
const POLICY = `version: 1
default: allow
tools:
  count/slow: { action: require_approval }
  count/fail: deny
  count/write: { action: allow, rate_limit: { max: 2, window: 1h, per: everyone } }
`

describe.skipIf(postgres === undefined)(namePostgresSuite('kills', postgres), () => {
  let server: RunningPostgres

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterAll(async () => {
    await endOwnGates()
    await endGates()
    await server?.end()
  })

  async function open(gate: ServingGate): Promise<PlainClient> {
    const client = await PlainClient.open(gate, 'count')
    await client.ask('tools/list')
    return client
  }

  test('S5: each gate dies in between, and the approval is used once', async () => {
    const log = join(scratchDirectory(), 'calls')
    const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
    const spec = (name: string) => ({
      servers: { count: fixture('counter', log) },
      policy: POLICY,
      config: { store: server.url(), cluster: { name, key: CLUSTER_KEY } },
    })
    const folder = scratchDirectory()
    await makePerson(join(folder, 'data'), 'eve', ['viewer'])
    const decides = await ownGate({ ...spec('decides'), folder })
    const [asks, uses] = await Promise.all(['asks', 'uses'].map((name) => startGate(spec(name))))
    const later = await serveGate(spec('later'))
    const held = (await open(asks!)).call('slow', { x: 1 }).catch(() => {})
    await until(() => decides.approvals.pendingCount === 1)
    await asks!.kill()
    await held
    const [pending] = await decides.approvals.list({ states: ['pending'] })
    await decides.approvals.decide(pending?.id ?? '', { verdict: 'approve' }, ADA, 'terminal')
    await decides.stop()
    const used = (await open(uses!)).call('slow', { x: 1 }).catch(() => {})
    await until(() => calls().length === 1)
    await uses!.kill()
    await used
    // It waits for another approval, or is told that this one was used.
    const aborter = new AbortController()
    setTimeout(() => aborter.abort(), 2_000)
    const again = await (await open(later))
      .call('slow', { x: 1 }, aborter.signal)
      .catch(() => undefined)
    expect(again?.text ?? 'waits').toMatch(/APPROVAL|waits/)
    expect(calls()).toHaveLength(1)
    await lookOn(later)
  })

  /** What the console of the gate that is left shows: which gates are lost, and the calls of all in figures, as
   * they are in the database. */
  async function lookOn(gate: ServingGate): Promise<void> {
    const client = await open(gate)
    for (const name of ['read', 'fail', 'write', 'write', 'write']) await client.call(name)
    const sinceMs = Date.now()
    for (const name of ['read', 'read', 'fail', 'write']) await client.call(name)
    const { url } =
      (await askGate(gate.data, { do: 'console', proof: { name: 'eve', pin: PIN } })) ?? {}
    const code = new URLSearchParams(new URL(String(url)).hash.slice(1)).get('code')
    const signedIn = await fetch(`${gate.url}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    const { token } = (await signedIn.json()) as { token: string }
    const get = async (path: string) =>
      (
        await fetch(`${gate.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } })
      ).json()
    const states = async () =>
      ((await get('/settings')) as SettingsView).gates.map(({ name, state }) => `${name} ${state}`)
    await until(async () => (await states()).includes('uses lost'))
    expect(await states()).toEqual(['asks lost', 'decides stopped', 'later live', 'uses lost'])
    const untilMs = Date.now() + 1
    const records: LedgerRecord[] = []
    const connections = new PostgresConnections(parsePostgresUrl(server.url()))
    for (const gate of ['asks', 'decides', 'later', 'uses'])
      for await (const { text } of readChain(connections, gate, 1)) records.push(decode(text))
    await connections.close()
    for (const fromMs of [sinceMs, sinceMs - 1_000, sinceMs - 60_000]) {
      const path = `/overview?sinceMs=${fromMs}&untilMs=${untilMs}`
      await until(async () => !('notFollowed' in ((await get(path)) as Overview)))
      const overview = await get(path)
      const counted = countOverview(records, { sinceMs: fromMs, untilMs })
      expect(readFigures(overview as Overview)).toEqual(counted)
      expect(Object.keys(counted.totals).sort()).toEqual(expect.arrayContaining(['allow', 'deny']))
    }
  }
})
