// Gates that share one PostgreSQL, from outside: limits, freezes, policies, approvals and grants hold at
// every gate, a gate that is cut off admits nothing, and the chains of all verify.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { ADA, endOwnGates, type OwnGate, ownGate, serveGate } from '../support/own-gate.ts'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPgBouncer,
  findPostgres,
  namePostgresSuite,
  type RunningPgBouncer,
  type RunningPostgres,
  startPgBouncer,
  startPostgres,
} from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { forms } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, type RunningGate, startGate, until } from '../support/start-gate.ts'
import { TcpRelay } from '../support/tcp-relay.ts'

const postgres = findPostgres()
const LIMITED = `version: 1
default: allow
tools:
  count/write: { action: allow, rate_limit: { max: 20, window: 1h, per: everyone } }
  count/slow: { action: require_approval }
  count/fail: { action: allow, spend_limit: { amount: args.amount, max: 0.7, window: 1h, per: everyone } }
`

describe.skipIf(postgres === undefined)(namePostgresSuite('a cluster', postgres), () => {
  let server: RunningPostgres
  let relay: TcpRelay
  let pooler: RunningPgBouncer | undefined
  let pooled: number

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    relay = await TcpRelay.start(server.port)
    const pgBouncer = findPgBouncer()
    if (pgBouncer !== undefined) pooler = await startPgBouncer(pgBouncer, server)
    pooled = pooler?.port ?? server.port
  })
  afterEach(async () => {
    relay.mode = 'pass'
    await endOwnGates()
  })
  afterAll(async () => {
    await relay?.end()
    await pooler?.end()
    await server?.end()
  })

  function connect(url: string) {
    return new PostgresConnections(parsePostgresUrl(url))
  }

  let databases = 0
  async function newDatabase(): Promise<string> {
    const name = `cluster_${++databases}`
    await server.createDatabase(name)
    return name
  }

  async function startCluster(names: readonly string[], policy = LIMITED) {
    const database = await newDatabase()
    const log = join(scratchDirectory(), 'calls')
    const gates: OwnGate[] = []
    for (const name of names) {
      const port = name === 'cut' ? relay.port : name.startsWith('pooled') ? pooled : server.port
      const store = `postgres://sluice@127.0.0.1:${port}/${database}`
      const config = { store, cluster: { name, key: CLUSTER_KEY } }
      gates.push(await ownGate({ servers: { count: fixture('counter', log) }, policy, config }))
    }
    const clients: PlainClient[] = []
    // One after the other: a busy machine that has just started six gates answers some of six at once with "try again".
    for (const gate of gates) {
      const client = await PlainClient.open(gate as unknown as RunningGate, 'count')
      await client.ask('tools/list')
      clients.push(client)
    }
    const calls = () => {
      try {
        return readFileSync(log, 'utf8').trim().split('\n')
      } catch {
        return []
      }
    }
    return { gates, clients, calls, database }
  }

  test('S1: gates let exactly as many calls arrive as the limit allows', async () => {
    const { clients, calls } = await startCluster(forms(['a', 'b', 'c'], 2))
    const callAtOnce = (tool: string, each: number) =>
      Promise.all(
        clients.flatMap((client) =>
          Array.from({ length: each }, () => client.call(tool, { amount: 0.1 })),
        ),
      )
    const expectArrived = async (tool: string, count: number, code: string) => {
      // A call that a busy database did not admit in time gave back what it used: as many more arrive.
      await until(async () => {
        const isThere = calls().length >= count
        if (!isThere) await clients[0]?.call(tool, { amount: 0.1 })
        return isThere
      })
      for (const { text } of await callAtOnce(tool, 1)) expect(text).toContain(code)
      expect(calls()).toHaveLength(count)
    }
    await callAtOnce('write', 20)
    await expectArrived('write', 20, 'RATE_LIMITED')
    // And a budget, to the decimal.
    await callAtOnce('fail', 5)
    await expectArrived('fail', 27, 'SPEND_LIMITED')
  })

  test('S9: a freeze at one gate holds at the others, also at one that is cut off', async () => {
    const { gates, clients, calls } = await startCluster(['a', 'b', 'cut'])
    const [a, , cut] = clients as [PlainClient, PlainClient, PlainClient]
    expect((await cut.call('read')).answer.result).toBeDefined()
    relay.cut()
    const frozen = await sluiceJson(['freeze', '--data', gates[0]?.data ?? ''])
    expect(frozen.warnings.join()).toMatch(/`cut` has not confirmed/)
    const before = calls().length
    for (const client of clients)
      expect(JSON.stringify((await client.call('read')).answer)).toMatch(/FROZEN|GATE_UNAVAILABLE/)
    expect((await fetch(`${gates[2]?.url}/readyz`)).status).toBe(503)
    expect((await fetch(`${gates[2]?.url}/healthz`)).status).toBe(200)
    relay.mode = 'pass'
    await until(async () => (await fetch(`${gates[2]?.url}/readyz`)).status === 200)
    expect(JSON.stringify((await cut.call('read')).answer)).toContain('FROZEN')
    expect(JSON.stringify((await a.call('read')).answer)).toContain('FROZEN')
    expect(calls()).toHaveLength(before)
  })

  test('a freeze right after a thaw at another gate holds', async () => {
    const { gates, clients } = await startCluster(['a', 'b'])
    const [a, b] = gates.map(({ data }) => data) as [string, string]
    await makePerson(a)
    const proof = { name: 'ann', pin: PIN }
    const isFrozen = async () => {
      const replies = await Promise.all(clients.map((client) => client.call('read')))
      return replies.map(({ answer }) => JSON.stringify(answer).includes('FROZEN'))
    }
    for (let round = 0; round < 3; round++) {
      await askGate(b, { do: 'freeze' })
      await until(async () => (await isFrozen()).every((yes) => yes))
      await askGate(a, { do: 'thaw', proof })
      await askGate(b, { do: 'freeze', why: 'again' })
      expect(await isFrozen()).toEqual([true, true])
    }
  })

  test('a policy that is tightened at one gate is in force at the others', async () => {
    const { gates, clients } = await startCluster(['a', 'b'])
    const [, b] = clients as [PlainClient, PlainClient]
    expect((await b.call('read')).answer.result).toBeDefined()
    gates[0]?.write(`${LIMITED}  count/read: deny\n`)
    await until(async () => JSON.stringify((await b.call('read')).answer).includes('DENIED'))
  })

  test('S5: an approval is asked for at one gate, decided at another and used once', async () => {
    const { gates, clients, calls } = await startCluster(['a', 'b', 'c'])
    const [a, b, c] = clients as [PlainClient, PlainClient, PlainClient]
    const held = a.call('slow', { x: 1 })
    const engine = gates[1]?.approvals
    await until(() => engine?.pendingCount === 1)
    const [request] = (await engine?.list({ states: ['pending'] })) ?? []
    await engine?.decide(request?.id ?? '', { verdict: 'approve' }, ADA, 'terminal')
    expect((await held).answer.result?.isError).not.toBe(true)
    expect(calls()).toHaveLength(1)
    await until(() => gates[2]?.approvals.find(request?.id ?? '')?.state === 'executed')
    const again = await Promise.all([b, c].map((client) => client.call('slow', { x: 1 })))
    expect(calls()).toHaveLength(1)
    for (const { answer } of again) expect(JSON.stringify(answer)).toMatch(/APPROVAL_USED/)
  })

  test('S8: without the database calls are refused with a reason; it recovers by itself; `/readyz` is red first', async () => {
    const { gates, clients, calls, database } = await startCluster(['a', 'b'])
    await server.stop()
    const replies = await Promise.all(clients.map((client) => client.call('read')))
    for (const { answer } of replies) {
      const [{ text }] = answer.result.content
      expect(text).toBe(
        'temporary outage: the call cannot be recorded, so it is not made; try again in 5 s',
      )
      expect(answer.result._meta['sluice/decision']).toMatchObject({
        code: 'GATE_UNAVAILABLE',
        retryAfterMs: 5_000,
      })
    }
    const late = await new PlainClient(gates[0] as unknown as RunningGate, 'count').initialize()
    expect(late.answer.error.message).toContain('try again')
    const red = await fetch(`${gates[0]?.url}/readyz`)
    const redText = await red.text()
    expect([red.status, redText]).toEqual([503, expect.stringContaining('shared store')])
    // Where the database is, and as whom it is used, is for the log and `sluice status`.
    const told = [...replies, late].map(({ text }) => text).concat(redText)
    const { why } = (await askGate(gates[0]?.data ?? '', { do: 'status' })) ?? {}
    for (const part of [`${server.port}`, 'postgres:', database])
      expect([told.join('\n'), why]).toEqual([
        expect.not.stringContaining(part),
        expect.stringContaining(part),
      ])
    expect((await fetch(`${gates[0]?.url}/healthz`)).status).toBe(200)
    await server.start()
    for (const [at, client] of clients.entries()) {
      await until(async () => (await fetch(`${gates[at]?.url}/readyz`)).status === 200)
      expect((await client.call('read')).answer.result).toBeDefined()
    }
    expect(calls()).toHaveLength(2)
    // A gate that stops says so to whoever asks, and takes calls until they have noticed.
    const stopping = gates[0]?.stop()
    expect((await clients[0]?.call('read'))?.answer.result).toBeDefined()
    for (let answer = 0; answer < 4; answer++)
      expect(await (await fetch(`${gates[0]?.url}/readyz`)).text()).toContain('is stopping')
    await stopping
  })

  test('`sluice gates` lists them; a stopped gate leaves, and comes back with its chain', async () => {
    const { gates, clients, database } = await startCluster(['a', 'b'])
    await clients[1]?.call('read')
    const listGates = async () =>
      (await sluiceJson(['gates', '--data', gates[0]?.data ?? ''])).gates
    // A gate is current once it has read what the other one wrote.
    await expect.poll(listGates).toMatchObject([
      { name: 'a', state: 'ready', isCurrent: true },
      { name: 'b', state: 'ready', isCurrent: true },
    ])
    const { folder } = gates[1] as OwnGate
    await gates[1]?.stop()
    const after = await listGates()
    expect(after).toHaveLength(2)
    expect(after[1]).toMatchObject({ name: 'b', isLive: false, state: 'stopped' })
    const offline = await sluice(['freeze', '--data', join(folder, 'data')])
    expect(offline.stderr).toContain('copy of a shared store')
    const store = server.url(database)
    const config = { store, cluster: { name: 'b', key: CLUSTER_KEY } }
    const b = await ownGate({ folder, servers: { count: fixture('counter', '/dev/null') }, config })
    const verified = await sluice(['ledger', 'verify', '--data', b.data])
    expect(verified.code).toBe(0)
    // A second gate of the same name: the older one stops, and does not speak for it.
    const twin = await ownGate({ servers: { count: fixture('counter', '/dev/null') }, config })
    const refused = await (await PlainClient.open(b as unknown as RunningGate, 'count')).call(
      'read',
    )
    expect(JSON.stringify(refused.answer)).toContain('GATE_UNAVAILABLE')
    expect(b.log.join('\n')).toContain('same name')
    await b.stop()
    const twins = await sluiceJson(['gates', '--data', twin.data])
    expect(twins.gates[1]).toMatchObject({ name: 'b', isLive: true, state: 'ready' })
    // One with another key does not even take the name.
    const wrongKey = { store, cluster: { name: 'b', key: `${CLUSTER_KEY}, another one` } }
    await expect(ownGate({ servers: {}, config: wrongKey })).rejects.toThrow('key of this cluster')
    const client = await PlainClient.open(twin as unknown as RunningGate, 'count')
    expect((await client.call('read')).answer.result).toBeDefined()
    await twin.stop()
    // A backup that is older than the copy of a gate: nothing is admitted by it.
    const admin = connect(store)
    await admin.query("DELETE FROM sluice.ledger WHERE gate = 'b' AND seq > 1")
    await admin.query(`UPDATE sluice.gates g SET seq = 1, head = l.hash FROM sluice.ledger l
      WHERE g.gate = 'b' AND l.gate = 'b'`)
    await admin.close()
    const again = ownGate({ folder: twin.folder, servers: {}, config })
    await expect(again).rejects.toThrow('does not have the records')
  })

  test('what each gate would count for itself is refused', async () => {
    const store = server.url(await newDatabase())
    const config = { store, cluster: { name: 'a', key: CLUSTER_KEY } }
    const start = (more: object) => ownGate({ servers: {}, config, ...more })
    const counted = `${LIMITED}  count/read: { action: allow, when: session.calls < 5 }\n`
    await expect(start({ policy: counted })).rejects.toThrow('gates do not share')
  })

  test('S6, S10: many gates, behind PgBouncer too: every chain verifies, an edited row is named', async () => {
    const names = forms(['a', 'b', 'pooled', 'c', 'd', 'pooled-2'], 3)
    const { gates, clients, database } = await startCluster(names)
    await Promise.all(
      clients.flatMap((client) => Array.from({ length: 8 }, () => client.call('read'))),
    )
    const store = server.url(database)
    const connections = connect(store)
    const sql =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice' AND datname = $1"
    const [open] = await connections.query(sql, [database])
    expect(Number(open?.count)).toBeLessThanOrEqual(4 * 4 + 5 + 1)
    const good = await sluiceJson(['ledger', 'verify', '--store', store])
    expect(good).toMatchObject({ ok: true })
    expect(good.chains).toHaveLength(names.length)
    const checkpoint = join(gates[0]?.data ?? '', 'ledger-checkpoints.jsonl')
    await endOwnGates(false)
    const signed = await sluice(['ledger', 'verify', '--store', store, '--checkpoint', checkpoint])
    expect(signed.code, signed.stderr).toBe(0)
    const edit = "UPDATE sluice.ledger SET body = body || ' ' WHERE gate = 'b' AND seq = 3"
    await connections.query(edit)
    const bad = await sluice(['ledger', 'verify', '--store', store])
    expect(bad.stdout).toContain('gate `b`: record 3 was edited')
    expect(bad.code).toBe(1)
    await connections.query("DELETE FROM sluice.ledger WHERE gate = 'a' AND seq > 2")
    await connections.query(
      "UPDATE sluice.gates SET seq = 2, head = (SELECT hash FROM sluice.ledger WHERE gate = 'a' AND seq = 2) WHERE gate = 'a'",
    )
    const cut = await sluice(['ledger', 'verify', '--store', store, '--checkpoint', checkpoint])
    expect(cut.stdout).toMatch(/gate `a`: records after 2 are missing/)
    await connections.query("DELETE FROM sluice.ledger WHERE gate IN ('a', 'b')")
    await connections.query("DELETE FROM sluice.gates WHERE gate IN ('a', 'b')")
    const gone = await sluice(['ledger', 'verify', '--store', store, '--checkpoint', checkpoint])
    expect(gone.stdout).toMatch(/^broken: no chain has record \d+, which was signed with the key /)
    expect(gone.code).toBe(1)
    await connections.close()
  })

  test('a gate that is killed in a call: the call is unknown at its next start, and charged', async () => {
    const log = join(scratchDirectory(), 'calls')
    const config = {
      store: server.url(await newDatabase()),
      cluster: { name: 'killed', key: CLUSTER_KEY },
    }
    const policy = `version: 1
default: allow
tools: { count/slow: { action: allow, rate_limit: { max: 1, window: 1h, per: everyone } } }
`
    const spec = { servers: { count: fixture('counter', log) }, policy, config }
    const gate = await startGate(spec)
    const client = await PlainClient.open(gate, 'count')
    await client.ask('tools/list')
    const called = client.call('slow').catch(() => {})
    await until(() => existsSync(log))
    await gate.kill()
    await called
    const again = await serveGate({ ...spec, folder: gate.folder })
    const other = await PlainClient.open(again, 'count')
    await other.ask('tools/list')
    expect(JSON.stringify((await other.call('slow')).answer)).toContain('RATE_LIMITED')
    await again.stop()
    const records = recordsOf(again)
    const [intent] = records.filter(({ kind }) => kind === 'intent')
    const outcomes = records.filter(({ kind }) => kind === 'outcome')
    expect(outcomes).toMatchObject([{ intent: intent?.seq, status: 'unknown' }])
    expect((await sluice(['ledger', 'verify', '--data', again.data])).code).toBe(0)
    await endGates()
  })
})
