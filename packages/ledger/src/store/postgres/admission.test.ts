// Admission in PostgreSQL beyond what every driver promises: several gates on one limit, a database that
// goes away, answers that are lost, and two gates of one name.

import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { formatDecimal, parseDecimal } from '@sluice/policy/values/decimal'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { rate } from '../../../../../test/support/counters-model.ts'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../../../../../test/support/postgres.ts'
import { selfSigned } from '../../../../../test/support/self-signed.ts'
import { until } from '../../../../../test/support/start-gate.ts'
import { TcpRelay } from '../../../../../test/support/tcp-relay.ts'
import { decisionEntry } from '../../decision-entries.test-support.ts'
import type { DecisionEntry } from '../../records/record.ts'
import type { AdmissionReply, ChargeRequest } from '../admission.ts'
import { describePostgres, parsePostgresUrl } from './address.ts'
import { BlockingConnection } from './blocking-connection.ts'
import { PostgresConnections } from './connections.ts'
import { toUnreachable } from './explain-failure.ts'
import { openSharedGate } from './shared-gate.test-support.ts'

const NOW = { wallMs: 1_000, monotonicMs: 1_000 }
const postgres = findPostgres()

let lastId = 0
function charge(charges: readonly LimitCharge[]): ChargeRequest<DecisionEntry> {
  const callId = `call ${++lastId}`
  return { mode: 'charge', callId, charges, now: NOW, entry: decisionEntry(lastId, { callId }) }
}

function countAdmitted(replies: readonly AdmissionReply[]): number {
  return replies.filter(({ status }) => status === 'admitted').length
}

describe.skipIf(postgres === undefined)(namePostgresSuite('a shared store', postgres), () => {
  let server: RunningPostgres
  let relay: TcpRelay
  const ended: (() => Promise<void>)[] = []

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    relay = await TcpRelay.start(server.port)
  })
  afterEach(async () => {
    relay.mode = 'pass'
    for (const end of ended.splice(0)) await end()
  })
  afterAll(async () => {
    await relay?.end()
    await server?.end()
  })

  async function open(gate: string, port = server.port, more = {}) {
    const url = `postgres://sluice@127.0.0.1:${port}/postgres`
    const opened = await openSharedGate(url, gate, more)
    ended.push(opened.close)
    const one = (charges: readonly LimitCharge[] = []) => opened.store.admit(charge(charges))
    return { ...opened, one }
  }

  test('S1: four gates let exactly as many calls pass as a limit allows, and no more of a budget', async () => {
    const gates = await Promise.all(['a', 'b', 'c', 'd'].map((name) => open(name)))
    const budget: LimitCharge = {
      key: 'budget',
      kind: 'spend',
      windowMs: 3_600_000,
      max: parseDecimal('12.50')!,
      amount: parseDecimal('0.1')!,
    }
    const calls = Array.from({ length: 250 }, () => [rate(100, { key: 's1' })])
    const spends = Array.from({ length: 50 }, () => [budget])
    const replies = await Promise.all(
      gates.map(({ store }) =>
        Promise.all([...calls, ...spends].map((charges) => store.admit(charge(charges)))),
      ),
    )
    expect(countAdmitted(replies.flatMap((each) => each.slice(0, 250)))).toBe(100)
    expect(countAdmitted(replies.flatMap((each) => each.slice(250)))).toBe(125)
  })

  test('a full limit says when there is room again, and what never fits says so', async () => {
    const { one } = await open('room')
    const two = { ...rate(2, { key: 'room' }), windowMs: 60_000 }
    await one([two])
    await one([two])
    const full = await one([two])
    expect(full).toMatchObject({ status: 'full', room: [{ passes: false }] })
    if (full.status !== 'full') return
    const [room] = full.room
    expect(room?.retryAfterMs).toBeGreaterThan(50_000)
    expect(room?.retryAfterMs).toBeLessThanOrEqual(60_000)
    expect(formatDecimal(room!.remaining)).toBe('0')
    const never = await one([{ ...two, amount: parseDecimal('3')! }])
    expect(never).toMatchObject({ room: [{ retryAfterMs: Number.POSITIVE_INFINITY }] })
    const short = { ...rate(1, { key: 'short' }), windowMs: 30 }
    expect((await one([short])).status).toBe('admitted')
    await until(async () => (await one([short])).status === 'admitted')
  })

  test('an answer that is lost: the call is refused, and undone if it was admitted', async () => {
    const { connections, one, store } = await open('deaf', relay.port)
    const limit = rate(1, { key: 'deaf' })
    relay.mode = 'deaf'
    const lost = await one([limit])
    expect(lost).toMatchObject({ status: 'unavailable', why: expect.stringMatching(/900 ms/) })
    expect(await one([limit])).toMatchObject({ status: 'unavailable' })
    relay.cut()
    relay.mode = 'pass'
    await until(() => store.state === 'open')
    expect((await one([limit])).status).toBe('admitted')
    const rows = await connections.query(
      "SELECT kind FROM sluice.ledger WHERE gate = 'deaf' ORDER BY seq",
    )
    // The outage is on record, too.
    expect(rows.map(({ kind }) => kind).join('')).toBe('ioei')
  })

  test('a counter is free before the commit is durable, and no call is answered before that', async () => {
    const { connections, one, store } = await open('durable')
    const other = await open('other')
    const limit = rate(2, { key: 'durable' })
    const set = async (standbys: string) => {
      await connections.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`)
      await connections.query('SELECT pg_reload_conf()')
    }
    await set('nobody')
    let isAnswered = false
    const lost = one([limit]).finally(() => {
      isAnswered = true
    })
    const sums = "SELECT 1 FROM sluice.charge WHERE gate IN ('durable', 'other')"
    await until(async () => (await connections.query(sums)).length === 1)
    const second = other.one([limit])
    await until(async () => (await connections.query(sums)).length === 2)
    expect(isAnswered).toBe(false)
    for (const reply of [await lost, await second])
      expect(reply).toMatchObject({ status: 'unavailable', why: expect.stringMatching(/900 ms/) })
    await set('')
    await until(() => store.state === 'open' && other.store.state === 'open')
    expect([await one([limit]), await other.one([limit]), await one([limit])]).toMatchObject(
      ['admitted', 'admitted', 'full'].map((status) => ({ status })),
    )
  })

  test('a statement that is cancelled after its first commit is looked up and undone', async () => {
    const { connections, one, store } = await open('cancelled')
    const limit = rate(1, { key: 'cancelled' })
    const definition = "SELECT pg_get_functiondef('sluice.admit_durably'::regproc) AS text"
    const text = String((await connections.query(definition))[0]?.text)
    const flush = /PERFORM pg_catalog.pg_logical_emit_message.*/
    expect(text).toMatch(flush)
    await connections.query(text.replace(flush, "RAISE EXCEPTION 'no' USING ERRCODE = '57014';"))
    expect(await one([limit])).toMatchObject({ status: 'unavailable' })
    await connections.query(text)
    await until(() => store.state === 'open')
    expect((await one([limit])).status).toBe('admitted')
  })

  test('S8: without the database every call is refused, nothing queues, and it recovers by itself', async () => {
    const { one, store } = await open('gone')
    expect((await one()).status).toBe('admitted')
    await server.stop('SIGQUIT')
    const refused = await Promise.all(Array.from({ length: 50 }, () => one()))
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(['unavailable']))
    const event = store.append({ kind: 'e', id: '', body: ',4,1,"waits",{}]' })
    expect((await one()).status).toBe('unavailable')
    await server.start()
    expect(await event).toBe(2)
    await until(() => store.state === 'open')
    expect((await one()).status).toBe('admitted')
  })

  describe('P1: a database that answers and refuses to write admits nothing until it has taken a record', () => {
    /** A database whose tables belong to a role that is no superuser. */
    async function openOwned(role: string) {
      const { connections } = await open(`admin of ${role}`)
      const admin = (sql: string) => connections.query(sql, [], 30_000)
      await admin(`CREATE ROLE ${role} LOGIN`)
      await admin(`CREATE DATABASE ${role} OWNER ${role}`)
      const url = `postgres://${role}@127.0.0.1:${server.port}/${role}`
      const states: string[] = []
      const onState = (state: string) => states.push(state)
      const opened = await openSharedGate(url, role, { onState })
      ended.push(opened.close)
      return { ...opened, admin, states, one: () => opened.store.admit(charge([])) }
    }

    /** An attempt to recover raises the epoch, if the database writes that. */
    const untilTried = ({ store }: { readonly store: { readonly epoch: number } }) => {
      const { epoch } = store
      return until(() => store.epoch > epoch + 2)
    }

    test('read-only', async () => {
      const { admin, one, states, store } = await openOwned('read_only')
      expect((await one()).status).toBe('admitted')
      await admin('ALTER DATABASE read_only SET default_transaction_read_only = on')
      const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'read_only'`
      await admin(others)
      await until(async () => {
        const reply = await one()
        return reply.status === 'unavailable' && /read-only/.test(reply.why)
      })
      expect([store.state, store.isRefused]).toEqual(['unknown', true])
      expect(store.why).toMatch(/refuses to write: .*read-only/)
      await admin('ALTER DATABASE read_only RESET default_transaction_read_only')
      await admin(others)
      await until(() => store.state === 'open')
      expect([(await one()).status, store.why, store.isRefused]).toEqual(['admitted', '', false])
      expect(states).toEqual(['open', 'unknown', 'open'])
    })

    test('without permission for the ledger alone', async () => {
      const gate = await openOwned('revoked')
      const { connections, one, states, store } = gate
      await connections.query('REVOKE INSERT ON sluice.ledger FROM revoked')
      expect(await one()).toMatchObject({
        status: 'unavailable',
        why: expect.stringMatching(/permission/),
      })
      await untilTried(gate)
      expect([store.state, store.isRefused]).toEqual(['unknown', true])
      await connections.query('GRANT INSERT ON sluice.ledger TO revoked')
      await until(() => store.state === 'open')
      expect((await one()).status).toBe('admitted')
      const rows = await connections.query('SELECT kind FROM sluice.ledger ORDER BY seq')
      expect(rows.map(({ kind }) => kind).join('')).toBe('ei')
      expect(states).toEqual(['open', 'unknown', 'open'])
    })

    test('the disk is full for records, and other rows still fit', async () => {
      const gate = await open('full')
      const { connections, one, store } = gate
      await connections.query(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
      await connections.query(`CREATE TRIGGER full_disk BEFORE INSERT ON sluice.ledger
        FOR EACH ROW WHEN (NEW.gate = 'full') EXECUTE FUNCTION full_disk()`)
      const outcome = store.append({ kind: 'e', id: '', body: ',4,1,"waits",{}]' })
      expect(await one()).toMatchObject({ why: expect.stringMatching(/No space/) })
      await untilTried(gate)
      expect([store.state, store.isRefused]).toEqual(['unknown', true])
      await connections.query('DROP TRIGGER full_disk ON sluice.ledger')
      await until(() => store.state === 'open')
      // What waited was the attempt, and the outage is recorded behind it.
      expect(await outcome).toBe(1)
      expect(store.head.seq).toBe(2)
    })
  })

  test('of two gates with one name the older admits nothing any more', async () => {
    const older = await open('twin')
    const newer = await open('twin')
    expect(await older.one()).toMatchObject({
      status: 'unavailable',
      why: expect.stringMatching(/same name/),
    })
    await expect.poll(() => older.store.state).toBe('fenced')
    expect((await newer.one()).status).toBe('admitted')
  })

  test('a decision by an older state is not admitted, and the gate catches up', async () => {
    let version = -1
    const catchUp = async () => {
      version = 0
    }
    const { one } = await open('stale', server.port, { version: () => version, catchUp })
    expect((await one()).status).toBe('changed')
    expect((await one()).status).toBe('admitted')
  })

  test('no call is decided again because another gate knows a new name', async () => {
    const { connections, one } = await open('names')
    const put = (kind: string) =>
      connections.query("INSERT INTO sluice.shared VALUES ($1, '', '', null, 1, '')", [kind])
    await connections.query('UPDATE sluice.control SET version = 1')
    await put('names')
    expect((await one()).status).toBe('admitted')
    await put('freezes')
    expect((await one()).status).toBe('changed')
    await connections.query('DELETE FROM sluice.shared')
    await connections.query('UPDATE sluice.control SET version = 0')
  })

  test('TLS: the certificate of the server is checked, and nothing is sent without', async () => {
    const data = join(server.folder, 'data')
    const { cert, key } = selfSigned()
    const { gid, uid } = statSync(data)
    for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
      writeFileSync(join(data, name), text, { mode: 0o600 })
      if (process.getuid?.() === 0) chownSync(join(data, name), uid, gid)
    }
    const ask = async (parameters: string) => {
      const url = `postgres://sluice@127.0.0.1:${server.port}/postgres?${parameters}`
      const connections = new PostgresConnections(parsePostgresUrl(url))
      const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
      return connections.query(sql).finally(() => connections.close())
    }
    await expect(ask('sslmode=require')).rejects.toThrow('does not support SSL')
    const admin = await open('tls')
    await admin.connections.query('ALTER SYSTEM SET ssl = on')
    await admin.connections.query('SELECT pg_reload_conf()')
    const trusted = `sslrootcert=${join(data, 'server.crt')}`
    await until(async () => (await ask('sslmode=require').catch(() => [])).length === 1)
    expect(await ask(`sslmode=verify-full&${trusted}`)).toEqual([{ ssl: true }])
    await expect(ask('sslmode=verify-full')).rejects.toThrow(/self.signed|certificate/)
    // The certificate is not for this spelling of its address.
    const byName = `postgres://sluice@127.1:${server.port}/postgres?sslmode`
    expect(await ask(`sslmode=verify-ca&${trusted}`)).toEqual([{ ssl: true }])
    const thread = new BlockingConnection(parsePostgresUrl(`${byName}=verify-ca&${trusted}`))
    onTestFinished(() => thread.close())
    expect(thread.send([{ text: 'SELECT 1 AS one' }])).toEqual([[{ one: 1 }]])
    const strict = new BlockingConnection(parsePostgresUrl(`${byName}=verify-full&${trusted}`))
    onTestFinished(() => strict.close())
    expect(() => strict.send([{ text: 'SELECT 1' }])).toThrow(/127\.1/)
  })

  test('the thread of the agents sends a batch without waiting for the results in it', async () => {
    const { connections } = await open('pipeline')
    await connections.query('CREATE TABLE sent (n int)')
    const { port1, port2 } = new MessageChannel()
    const address = parsePostgresUrl(`postgres://sluice@127.0.0.1:${relay.port}/postgres`)
    const workerData = { address, bell: new Int32Array(new SharedArrayBuffer(4)), port: port2 }
    const file = join(import.meta.dirname, 'blocking-thread.ts')
    const thread = new Worker(file, { workerData, transferList: [port2] })
    ended.push(async () => void (await thread.terminate()))
    const send = (...statements: readonly { text: string }[]) =>
      port1.postMessage({ id: 1, statements })
    send({ text: 'SELECT 1' })
    await once(port1, 'message')
    relay.mode = 'deaf'
    send({ text: 'INSERT INTO sent VALUES (1)' }, { text: 'INSERT INTO sent VALUES (2)' })
    await until(async () => (await connections.query('SELECT n FROM sent')).length === 2)
  })

  test('a gate has at most four connections; while all are in use a call is refused in time', async () => {
    const { connections, one, store } = await open('pool')
    await Promise.all(Array.from({ length: 20 }, () => connections.query('SELECT pg_sleep(0.01)')))
    const sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice'"
    const [row] = await connections.query(sql)
    expect(Number(row?.count)).toBe(4)
    const slow = [1, 2, 3, 4].map(() => connections.query('SELECT pg_sleep(1.5)'))
    const refused = { status: 'unavailable', why: expect.stringContaining('within 900 ms') }
    expect(await one()).toMatchObject(refused)
    await Promise.all(slow)
    await until(() => store.state === 'open')
    expect((await one()).status).toBe('admitted')
  })
})

test('the password: in the address, by a variable, or in a file that only its owner may read', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-pass-')), 'pgpass')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(dirname(file), { recursive: true })
  })
  const lines = ['# a comment', 'other:*:*:*:no', 'db:5432:sluice:s:a\\:b\\\\c', '*:*:*:t:for t']
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  vi.stubEnv('PGPASSWORD', undefined)
  vi.stubEnv('PGPASSFILE', file)
  const passwordOf = (text: string) => parsePostgresUrl(text).password
  expect(passwordOf('postgres://s@db/sluice')).toBe('a:b\\c')
  expect(passwordOf('postgres://t@db:1/x')).toBe('for t')
  expect(passwordOf('postgres://s@db:1/sluice')).toBeUndefined()
  expect(passwordOf('postgres://s:own@db/sluice')).toBe('own')
  chmodSync(file, 0o640)
  expect(() => passwordOf('postgres://s@db/sluice')).toThrow('other users may read it')
  vi.stubEnv('PGPASSWORD', 'by variable')
  expect(passwordOf('postgres://s@db/sluice')).toBe('by variable')
})

test('the address: encrypted and checked, unless it is on this machine or says otherwise', () => {
  const ssl = (text: string) => parsePostgresUrl(text).ssl
  expect(ssl('postgres://s@db.internal/sluice')).toEqual({ rejectUnauthorized: true })
  expect(ssl('postgres://s@127.0.0.1/sluice')).toBe(false)
  expect(ssl('postgres://s@[::1]/sluice')).toBe(false)
  expect(ssl('postgres://s@127.0.0.1.evil.example/sluice')).toEqual({ rejectUnauthorized: true })
  expect(ssl('postgres://s@x/sluice?host=/run/postgresql')).toBe(false)
  expect(ssl('postgres://s@db/sluice?sslmode=disable')).toBe(false)
  expect(ssl('postgres://s@db/sluice?sslmode=require')).toEqual({ rejectUnauthorized: false })
  expect(ssl('postgres://s@db/sluice?sslmode=verify-ca')).toEqual({
    rejectUnauthorized: true,
    isNameIgnored: true,
  })
  const address = parsePostgresUrl('postgresql://s:p%40ss@db:6432/sluice')
  expect(address).toMatchObject({ host: 'db', port: 6432, password: 'p@ss', database: 'sluice' })
  expect(describePostgres(address)).toBe('postgres://s@db:6432/sluice')
  for (const wrong of [
    'mysql://s@db/sluice',
    'postgres://db/sluice',
    'postgres://s@db',
    'postgres://s@db/sluice?sslmode=prefer',
    'postgres://s@db/sluice?options=-c%20x',
    'postgres://s:100%@db/sluice',
    'postgres://s@db/sluice?sslrootcert=/nowhere',
  ])
    expect(() => parsePostgresUrl(wrong)).toThrow('address of the shared store')
})

test.each([
  [{ message: 'no such database', code: '3D000', severity: 'FATAL' }, 'refuses', 'createdb'],
  [{ message: 'wrong password', code: '28P01', severity: 'FATAL' }, 'refuses', 'PGPASSWORD'],
  [{ message: 'SASL: client password must be a string' }, 'none is given', 'PGPASSWORD'],
  [{ message: 'The server does not support SSL connections' }, 'refuses', 'sslmode=disable'],
  [{ message: 'self-signed', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'self-signed', 'sslrootcert'],
  [{ message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }, 'does not answer', 'reachable'],
])('a failure says what to do: %o', (failure, said, help) => {
  const error = toUnreachable('postgres://s@db/sluice', failure)
  expect(error.message).toContain(said)
  expect(error.help).toContain(help)
})
