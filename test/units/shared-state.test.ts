// The state that gates share: a change of one is applied by the other, two changes of one row at the same
// time are one, and what was written to the database without the key of the cluster is found.

import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Grants } from '../../packages/access/src/identity/callers/grants.ts'
import { identityFile } from '../../packages/access/src/identity/identity-file.ts'
import { SHARED_GRANT_TABLES } from '../../packages/gateway/src/data/shared-tables.ts'
import {
  testAlertRows,
  toAlertRow,
} from '../../packages/ledger/src/store/alert-rows.test-support.ts'
import type { AlertRows } from '../../packages/ledger/src/store/alert-rows.ts'
import { PostgresAlertRows } from '../../packages/ledger/src/store/postgres/alert-rows.ts'
import type { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { openSharedGate } from '../../packages/ledger/src/store/postgres/shared-gate.test-support.ts'
import { SharedRows } from '../../packages/ledger/src/store/postgres/shared-rows.ts'
import { SharedState } from '../../packages/ledger/src/store/postgres/shared-state.ts'
import { openDatabase } from '../../packages/ledger/src/store/sqlite/open.ts'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { scratchDirectory } from '../support/scratch.ts'

const postgres = findPostgres()
const TABLES = [{ name: 'notes', key: ['owner', 'name'], omit: { seen: 0 } }]
const SCHEMA = `CREATE TABLE notes (
  owner TEXT NOT NULL, name TEXT NOT NULL, body BLOB, seen INTEGER NOT NULL,
  PRIMARY KEY (owner, name))`

describe.skipIf(postgres === undefined)(namePostgresSuite('shared state', postgres), () => {
  let server: RunningPostgres
  const ended: (() => void | Promise<void>)[] = []
  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterEach(async () => {
    for (const end of ended.splice(0)) await end()
  })
  afterAll(() => server?.end())

  let databases = 0
  async function newDatabase(): Promise<string> {
    const name = `state_${++databases}`
    await server.createDatabase(name)
    return server.url(name)
  }

  async function open(url: string, gate: string, key = Buffer.alloc(32, 1)) {
    const { connections, store, close } = await openSharedGate(url, gate)
    const database = new DatabaseSync(':memory:')
    database.exec(SCHEMA)
    const rows = new SharedRows({ connections, gate, key, epoch: () => store.epoch })
    const state = new SharedState(rows)
    ended.push(close, () => state.close())
    state.tables.add(database, TABLES)
    await state.load()
    state.tables.watch(database, ['notes'])
    const put = (name: string, body: string | Uint8Array) =>
      database
        .prepare('INSERT OR REPLACE INTO notes VALUES (?, ?, ?, 7)')
        .run("o'brien", name, body)
    const all = () => database.prepare('SELECT name, body, seen FROM notes ORDER BY name').all()
    return { connections, database, state, put, all }
  }

  test('a change is applied at the other gate, before it admits by it; a new gate loads everything', async () => {
    const url = await newDatabase()
    const [a, b] = [await open(url, 'a'), await open(url, 'b')]
    a.put('x', 'one')
    a.put('y', Buffer.from([0, 255]))
    const { stamp } = b.state
    await a.state.settle()
    await b.state.catchUp()
    expect(b.state.version).toBe(a.state.version)
    expect(b.state.stamp).toBeGreaterThan(stamp)
    expect(b.all()).toEqual([
      { name: 'x', body: 'one', seen: 0 },
      { name: 'y', body: new Uint8Array([0, 255]), seen: 0 },
    ])
    b.database.exec("DELETE FROM notes WHERE name = 'x'")
    await b.state.settle()
    await a.state.catchUp()
    expect(a.all().map(({ name }) => name)).toEqual(['y'])
    // What a gate has for itself is not shared.
    const { version } = a.state
    a.database.exec('UPDATE notes SET seen = 9')
    await a.state.settle()
    expect(a.state.version).toBe(version)
    expect((await open(url, 'c')).all()).toHaveLength(1)
  })

  test('P1: a change that the database refuses to store is a fault until it is stored', async () => {
    const { connections, put, state } = await open(await newDatabase(), 'a')
    await connections.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$`)
    await connections.query(`CREATE TRIGGER refuse BEFORE INSERT ON sluice.shared
      FOR EACH ROW EXECUTE FUNCTION refuse()`)
    put('x', 'one')
    await expect(state.settle()).rejects.toThrow('no space')
    await state.catchUp()
    expect(state.why).toBe('no space')
    await connections.query('DROP TRIGGER refuse ON sluice.shared')
    await state.settle()
    expect(state.why).toBeUndefined()
  })

  test('of two changes of one row at the same time the first counts, and the second is told', async () => {
    const url = await newDatabase()
    const [a, b] = [await open(url, 'a'), await open(url, 'b')]
    const confirm = b.state.beginChange()
    a.put('x', 'of a')
    await a.state.settle()
    // Before b has heard of it: a gate commits a change at once, so writing both first would be a race.
    b.put('x', 'of b')
    b.put('z', 'of b')
    await expect(confirm()).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
    await a.state.catchUp()
    expect(a.all()).toMatchObject([{ body: 'of a' }, { body: 'of b' }])
    expect(b.all()).toMatchObject([{ body: 'of a' }, { body: 'of b' }])
  })

  test.each([
    ['edited', "UPDATE sluice.shared SET body = replace(body, 'one', 'two')"],
    ['removed', "DELETE FROM sluice.shared WHERE key LIKE '%x%'"],
    ['moved', "UPDATE sluice.shared SET key = replace(key, 'x', 'w')"],
    ['renumbered', 'UPDATE sluice.shared SET version = version + 1'],
  ])('a row that was %s in the database is found', async (_how, sql) => {
    const url = await newDatabase()
    const a = await open(url, 'a')
    a.put('x', 'one')
    a.put('y', 'one')
    await a.state.settle()
    await a.connections.query(sql)
    await expect(open(url, 'b')).rejects.toMatchObject({ code: 'STORE_KEY' })
  })

  test('the end of a grant holds at every gate; an older gate takes the grant as revoked', async () => {
    const url = await newDatabase()
    const openGrants = async (gate: string, omit: Record<string, undefined> = {}) => {
      const { state } = await open(url, gate)
      const folder = scratchDirectory()
      const grants = Grants.open(folder)
      const copy = openDatabase(identityFile(folder))
      onTestFinished(() => [grants, copy].forEach((one) => void one.close()))
      const tables = SHARED_GRANT_TABLES.map((table) => ({
        ...table,
        omit: { ...table.omit, ...omit },
      }))
      state.tables.add(copy, tables)
      state.tables.watch(grants.file.database, ['grants'])
      return { state, grants }
    }
    const a = await openGrants('a')
    const b = await openGrants('b')
    // One that does not have the column.
    const older = await openGrants('c', { until_ms: undefined })
    const terms = { name: 'ann', policy: 'policy', slots: 1, groups: [], explain: false }
    const { grant, token } = a.grants.add({ ...terms, untilMs: 2_000 }, 1_000)
    await a.state.settle()
    for (const { state, grants } of [b, older]) {
      await state.catchUp()
      grants.refresh()
    }
    expect(b.grants.find(token)).toMatchObject({ untilMs: 2_000, revokedMs: null })
    expect([1_999, 2_000].map((ms) => b.grants.holds(grant, ms))).toEqual([true, false])
    expect(older.grants.find(token)).toBeUndefined()
    expect(older.grants.list()).toMatchObject([{ revokedMs: 2_000 }])
  })

  test('another key is refused', async () => {
    const url = await newDatabase()
    const a = await open(url, 'a')
    a.put('x', 'one')
    await a.state.settle()
    await expect(open(url, 'b', Buffer.alloc(32, 2))).rejects.toMatchObject({ code: 'STORE_KEY' })
  })

  test('changes that a failover lost are made again, unless the row was changed since', async () => {
    const url = await newDatabase()
    const [a, b] = [await open(url, 'a'), await open(url, 'b')]
    a.put('x', 'one')
    a.put('y', 'one')
    await a.state.settle()
    const saved = ['control', 'shared'].map((name) => [name, `saved_${name}`])
    for (const [name, copy] of saved)
      await a.connections.query(`CREATE TABLE ${copy} AS SELECT * FROM sluice.${name}`)
    const loseChanges = async () => {
      for (const [name, copy] of saved) {
        await a.connections.query(`DELETE FROM sluice.${name}`)
        await a.connections.query(`INSERT INTO sluice.${name} SELECT * FROM ${copy}`)
      }
    }
    a.put('x', 'two')
    a.put('z', 'one')
    await a.state.settle()
    await b.state.catchUp()
    a.put('x', 'three')
    await a.state.settle()
    await loseChanges()
    // The one that knows less is first, and writes what it knows; the other one the rest.
    for (const gate of [b, a, b]) {
      await gate.state.catchUp()
      await gate.state.settle()
    }
    const bodies = [{ body: 'three' }, { body: 'one' }, { body: 'one' }]
    for (const gate of [a, b, await open(url, 'c')]) expect(gate.all()).toMatchObject(bodies)
    // A change after the failover is newer than one that was lost.
    await loseChanges()
    await a.connections.query("UPDATE sluice.control SET timeline = '00000000'")
    const fresh = await open(url, 'd')
    fresh.put('x', 'other')
    await fresh.state.settle()
    for (const gate of [a, fresh]) {
      await gate.state.catchUp()
      await gate.state.settle()
      expect(gate.all()).toMatchObject([{ body: 'other' }, { body: 'one' }, { body: 'one' }])
    }
  })

  describe('alerts', () => {
    let url: string
    const openAlerts = async () => {
      url ??= await newDatabase()
      const gates = [await openSharedGate(url, 'north'), await openSharedGate(url, 'south')]
      const query = (text: string) => gates[0]?.connections.query(text)
      ended.push(...gates.map(({ close }) => close))
      await query('TRUNCATE sluice.alerts CASCADE')
      const key = Buffer.alloc(32, 1)
      const openRows = ({ connections }: { connections: PostgresConnections }) =>
        new PostgresAlertRows({ connections, key })
      const rows = gates.map(openRows) as unknown as readonly [AlertRows, AlertRows]
      const expire = "UPDATE sluice.alerts SET claimed_at = now() - interval '31 s'"
      return { rows, query, expireClaims: async () => void (await query(expire)) }
    }
    testAlertRows(openAlerts)

    test('a row that was written without the key is not told, and keeps no alert back', async () => {
      const { rows, query, expireClaims } = await openAlerts()
      await rows[0].add(toAlertRow('a'), ['x'])
      await query(`UPDATE sluice.alerts SET body = '{"title":"Sign in at evil.example"}'`)
      await expireClaims()
      expect(await rows[1].takeOver([])).toEqual([])
      await rows[0].add(toAlertRow('b'), ['y'])
      await query(`UPDATE sluice.alerts SET gate = 'south'`)
      expect(await rows[1].add(toAlertRow('c'), ['y'])).toEqual([])
      await query("UPDATE sluice.alerts SET open = false WHERE id = 'c'")
      expect(await rows[1].list()).toEqual([])
    })
  })
})
