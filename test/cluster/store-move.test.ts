// `sluice store move`: a data directory that was used, with a ledger, limits, approvals, grants and agents, goes
// on in a shared store; all of it or nothing, and only while no gate runs and the database is empty. And stores
// of other versions: an older one is brought up to date, a newer one is used as long as it allows.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Grants } from '../../packages/access/src/identity/callers/grants.ts'
import { InstallationKey } from '../../packages/access/src/identity/keys/installation-key.ts'
import { deriveSigningKey } from '../../packages/access/src/identity/keys/signing-key.ts'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import { readConfig } from '../../packages/gateway/src/config/config.ts'
import { openLedger } from '../../packages/gateway/src/data/open-ledger.ts'
import { SharedStore } from '../../packages/gateway/src/start/open-shared-store.ts'
import { decisionEntry } from '../../packages/ledger/src/decision-entries.test-support.ts'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { Names } from '../../packages/ledger/src/records/names.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { migrate } from '../../packages/ledger/src/store/postgres/migrate.ts'
import { getStoreVersion, MIGRATIONS } from '../../packages/ledger/src/store/postgres/schema.ts'
import { ADA, endOwnGates, ownGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { fixture, until, writeScript } from '../support/start-gate.ts'

const postgres = findPostgres()
const POLICY = `version: 1
default: allow
tools:
  count/write: { action: allow, rate_limit: { max: 5, window: 1h, per: everyone } }
  count/slow: { action: require_approval, approval: { wait: 20s } }
`
const TURNS = [
  { toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'one' } }] },
  { text: 'first' },
  { toolCalls: [{ name: 'write_file', input: { path: 'b.txt', content: 'two' } }] },
  { text: 'second' },
]

describe.skipIf(postgres === undefined)(namePostgresSuite('a move', postgres), () => {
  let server: RunningPostgres

  beforeAll(async () => {
    vi.stubEnv('SLUICE_CLUSTER_KEY', CLUSTER_KEY)
    server = await startPostgres(postgres as string)
    await server.createDatabase('moved')
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await endOwnGates()
    await server?.end()
  })

  /** A ledger that cannot be moved, and one that has dropped records. */
  async function moveOthers(data: string): Promise<void> {
    await server.createDatabase('dropped')
    const to = server.url('dropped')
    const move = ['store', 'move', '--from', data, '--to', to, '--name', 'two']
    const signer = deriveSigningKey(InstallationKey.at(data))
    const options = { directory: data, checkpoints: { signer } }
    const open = Ledger.open(options)
    await open.intent(decisionEntry(1))
    open.close()
    expect((await sluice(move)).stderr).toContain('1 calls have no outcome')
    const ledger = Ledger.open(options)
    const later = Date.now() + 3_600_000
    await ledger.event({ atMs: later, name: 'later', detail: {} })
    expect(await ledger.retain({ keepMs: 1 }, later, later)).toBeGreaterThan(0)
    ledger.close()
    const file = join(data, 'ledger.db')
    const whole = readFileSync(file)
    const edited = new DatabaseSync(file)
    edited.exec(
      "UPDATE blocks SET data = CAST(data || x'00' AS BLOB) WHERE seq = (SELECT max(seq) FROM blocks)",
    )
    edited.close()
    expect((await sluice(move)).stderr).toContain('the ledger does not verify')
    writeFileSync(file, whole)
    expect(await sluiceJson(move)).toMatchObject({ gate: 'two', wasMoved: false })
    const verified = await sluiceJson(['ledger', 'verify', '--store', to])
    expect(verified).toMatchObject({ ok: true, chains: [{ gate: 'two', problems: [] }] })
  }

  test('keeps ledger, limits, approvals, grants and agents', { timeout: 120_000 }, async () => {
    const servers = {
      agents: { builtin: 'agents' as const },
      count: fixture('counter', join(scratchDirectory(), 'calls')),
    }
    const before = await ownGate({ servers, policy: POLICY }, { agents: agentsFor })
    const { data, folder } = before
    const grants = Grants.open(data)
    const terms = { name: 'ann', policy: 'policy', slots: 4, groups: [], explain: true }
    const { token } = grants.add(terms, Date.now())
    grants.close()
    const open = (gate: unknown, name: string) =>
      PlainClient.open(gate as never, name, '2025-11-25', token)
    writeScript(data, 'story', TURNS)
    const [count, agents] = [await open(before, 'count'), await open(before, 'agents')]
    for (let calls = 0; calls < 3; calls++) await count.call('write')
    const held = count.call('slow', { text: 'held' }).catch(() => undefined)
    await until(() => before.approvals.pendingCount === 1)
    const { agent } = await agents.value('wasm_agent_create', { model: 'script:story' })
    await agents.value('wasm_agent_prompt', { agentId: agent.id, input: 'go' })
    const to = server.url('moved')
    const move = ['store', 'move', '--from', data, '--to', to, '--name', 'one']
    expect((await sluice(move)).stderr).toMatch(/process \d+ uses/)
    await before.stop()
    await held

    const moved = await sluiceJson(move)
    expect(moved).toMatchObject({ gate: 'one', wasMoved: false, agents: 1, charges: 3 })
    expect(moved.head.seq).toBe(moved.records)
    expect((await sluice(move)).stderr).toContain('belongs to a shared store already')
    rmSync(join(data, 'shared-store'))
    expect(await sluiceJson(move)).toMatchObject({ wasMoved: true })
    const other = await ownGate({ servers: {} })
    await other.stop()
    const second = ['store', 'move', '--from', other.data, '--to', to, '--name', 'two']
    expect((await sluice(second)).stderr).toContain('the database is not empty')
    await moveOthers(other.data)

    const config = { store: to, cluster: { name: 'one', key: CLUSTER_KEY } }
    const spec = { servers, policy: POLICY, folder, config }
    const gate = await ownGate(spec, { agents: agentsFor })
    const records = recordsOf(gate)
    expect(records.length).toBeGreaterThan(moved.records)
    const again = await open(gate, 'count')
    const replies = []
    for (let calls = 0; calls < 3; calls++) replies.push((await again.call('write')).text)
    expect(replies.map((text) => text.includes('RATE_LIMITED'))).toEqual([false, false, true])
    const [request] = await gate.approvals.list({ states: ['pending'] })
    expect(request).toMatchObject({ args: '{"text":"held"}' })
    await gate.approvals.decide(request?.id ?? '', { verdict: 'approve' }, ADA, 'terminal')
    const mine = await open(gate, 'agents')
    const prompt = { agentId: agent.id, input: 'go on' }
    expect((await mine.value('wasm_agent_prompt', prompt)).response).toBe('second')
    const { files } = await mine.value('wasm_agent_files', { agentId: agent.id })
    expect(files).toHaveLength(2)
    const child = (await mine.value('wasm_agent_fork', { agentId: agent.id })).agents[0].id
    expect((await mine.value('wasm_agent_replay', { agentId: child })).isSame).toBe(true)
    await gate.stop()
    const verified = await sluiceJson(['ledger', 'verify', '--store', to])
    expect(verified).toMatchObject({ ok: true, chains: [{ gate: 'one', problems: [] }] })
  })

  test('records after their time are dropped in the store too', { timeout: 60_000 }, async () => {
    await server.createDatabase('kept')
    const store = server.url('kept')
    const folder = scratchDirectory()
    const data = join(folder, 'data')
    const open = async () => {
      const own = { version: 1, servers: {}, policy: './policy.yaml', data: './data' }
      const text = JSON.stringify({ ...own, store, cluster: { name: 'one', key: CLUSTER_KEY } })
      const { config } = readConfig({ file: join(folder, 'sluice.yaml'), text }, {})
      if (config?.cluster === undefined) throw new Error('no cluster')
      mkdirSync(data, { recursive: true })
      const names = new Names(data)
      const shared = await SharedStore.open(
        { ...config, cluster: config.cluster },
        { log: () => {}, names },
      )
      const record = await openLedger(config, () => {}, {
        hider: shared.hider,
        shared: shared.log,
      })
      await shared.follow(record.ledger)
      const close = async () => {
        await shared.close()
        await record.close()
        names.close()
      }
      const note = (name: string) => record.ledger.event({ atMs: Date.now(), name, detail: {} })
      return { close, ledger: record.ledger, note }
    }
    const verify = () => sluice(['ledger', 'verify', '--store', store, '--json'])
    const first = await open()
    for (const name of ['a', 'b', 'c']) await first.note(name)
    await first.close()
    const second = await open()
    await second.note('d')
    const later = Date.now() + 3_600_000
    expect(await second.ledger.retain({ keepMs: 1 }, later, later)).toBe(3)
    const connections = new PostgresConnections(parsePostgresUrl(store))
    onTestFinished(() => connections.close())
    const [left] = await connections.query('SELECT min(seq) AS seq FROM sluice.ledger')
    expect(Number(left?.seq)).toBe(4)
    await second.close()
    // A data directory that was deleted: the copy starts after what was dropped.
    rmSync(data, { recursive: true })
    const third = await open()
    expect(third.ledger.head.seq).toBe(5)
    await third.note('e')
    await third.close()
    expect(JSON.parse((await verify()).stdout)).toMatchObject({
      ok: true,
      chains: [{ records: 3 }],
    })
    // By hand it is not possible to drop more.
    await connections.query(`UPDATE sluice.ledger_base b SET seq = l.seq, hash = l.hash
      FROM sluice.ledger l WHERE l.seq = 4`)
    await connections.query('DELETE FROM sluice.ledger WHERE seq = 4')
    const { chains } = JSON.parse((await verify()).stdout)
    expect(chains[0].problems).toEqual([
      expect.stringContaining('the checkpoint is for other records'),
      expect.stringContaining('no event records that they were dropped'),
    ])
  })

  test('a move whose connection was cut goes on over no other one', async () => {
    await server.createDatabase('cut')
    const address = parsePostgresUrl(server.url('cut'))
    const move = new PostgresConnections(address, { isTransaction: true })
    const admin = new PostgresConnections(address)
    onTestFinished(async () => {
      await move.close()
      await admin.close()
    })
    await move.query('BEGIN')
    await move.query('CREATE TABLE half (n int)')
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = 'cut' AND state = 'idle in transaction'`)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await expect(move.query('CREATE TABLE rest (n int)')).rejects.toThrow('does not answer')
    const sql = "SELECT 1 FROM pg_tables WHERE tablename IN ('half', 'rest')"
    expect(await admin.query(sql)).toEqual([])
  })

  test('gates of this version and of the next use one store', async () => {
    await server.createDatabase('versions')
    const store = server.url('versions')
    const connections = new PostgresConnections(parsePostgresUrl(store))
    onTestFinished(() => connections.close())
    const readVersion = async () =>
      Number(
        (await connections.query('SELECT max(version) AS version FROM sluice.migrations'))[0]
          ?.version,
      )
    const servers = { count: fixture('counter', join(scratchDirectory(), 'calls')) }
    const start = (name: string) =>
      ownGate({ servers, config: { store, cluster: { name, key: CLUSTER_KEY } } })
    const known = getStoreVersion()
    // The tables of the version before, without those of the newest migration.
    await migrate(connections, MIGRATIONS.slice(0, -1))
    // A role that may use the tables and does not own them.
    await connections.query('DROP ROLE IF EXISTS guest')
    await connections.query('CREATE ROLE guest LOGIN')
    await connections.query('GRANT USAGE ON SCHEMA sluice TO guest')
    await connections.query('GRANT ALL ON ALL TABLES IN SCHEMA sluice TO guest')
    const guest = new PostgresConnections(parsePostgresUrl(store.replace('sluice@', 'guest@')))
    await expect(migrate(guest)).rejects.toMatchObject({ code: 'STORE_OWNER' })
    await guest.close()
    const gate = await start('a')
    expect(await readVersion()).toBe(known)
    // The next version adds something, and would remove something.
    const added = { sql: 'ALTER TABLE sluice.gates ADD COLUMN next int NOT NULL DEFAULT 7;' }
    const removed = { sql: 'ALTER TABLE sluice.gates DROP COLUMN config;', oldest: known + 1 }
    const next = [...MIGRATIONS, added, removed]
    await migrate(connections, next)
    expect(await readVersion()).toBe(known + 1)
    const client = await PlainClient.open(gate as never, 'count')
    expect((await client.call('read')).answer.result).toBeDefined()
    const beside = await start('b')
    await beside.stop()
    await gate.stop()
    // What an auditor needs, and no more.
    const auditor = store.replace('sluice@', 'auditor@')
    await connections.query('DROP ROLE IF EXISTS auditor')
    await connections.query('CREATE ROLE auditor LOGIN')
    await connections.query('GRANT USAGE ON SCHEMA sluice TO auditor')
    await connections.query(
      'GRANT SELECT ON sluice.ledger, sluice.ledger_base, sluice.gates, sluice.charge TO auditor',
    )
    expect(await sluiceJson(['ledger', 'verify', '--store', auditor])).toMatchObject({ ok: true })
    // No gate of this version is live: what it needs goes, and it is told so.
    await migrate(connections, next)
    expect(await readVersion()).toBe(known + 2)
    await expect(start('a')).rejects.toThrow(
      `needs gates that know version ${known + 1} of its tables; this one knows ${known}`,
    )
    // A version that only a revision between releases made.
    await connections.query('UPDATE sluice.migrations SET version = version - 10')
    await expect(start('a')).rejects.toThrow(/the shared store has version \d+, this program knows/)
  })
})
