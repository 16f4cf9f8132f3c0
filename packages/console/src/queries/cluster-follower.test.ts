// The records of all gates that share a store, as the console of one of them reads them: complete, in order,
// under the numbers of their gates; and what happens if the store drops records, loses them or was edited.

import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allowed, decisionEntry, denied } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { encodeBody } from '@sluice/ledger/records/encoding'
import { MERGED_FOLDER } from '@sluice/ledger/records/files'
import { makeToken, Names } from '@sluice/ledger/records/names'
import { type DecisionEntry, type LedgerEntry, outcomeEntry } from '@sluice/ledger/records/record'
import { FOLLOWED_ROWS_MAX } from '@sluice/ledger/store/limits'
import type { RecordKind } from '@sluice/ledger/store/postgres/batch'
import { FollowedChains } from '@sluice/ledger/store/postgres/follow-chains'
import { openSharedGate } from '@sluice/ledger/store/postgres/shared-gate.test-support'
import { CHAINS_AFTER } from '@sluice/ledger/store/postgres/statements'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../../../../test/support/postgres.ts'
import { forms } from '../../../../test/support/runs.ts'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import type { Overview } from '../contract/contract.ts'
import { LedgerReader } from './ledger-reader.ts'
import { readFigures } from './overview.test-support.ts'
import type { TimeRange } from './time-range.ts'

const postgres = findPostgres()
const START_MS = 1_800_000_000_000
const KIND: Readonly<Record<LedgerEntry['kind'], RecordKind>> = {
  intent: 'i',
  refusal: 'r',
  outcome: 'o',
  event: 'e',
}

describe.skipIf(postgres === undefined)(namePostgresSuite('all gates', postgres), () => {
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
  async function newStore(): Promise<string> {
    const name = `follow_${++databases}`
    await server.createDatabase(name)
    return server.url(name)
  }

  async function openGate(store: string, gate: string) {
    const { connections, store: admission, close } = await openSharedGate(store, gate)
    ended.push(close)
    let written = 0
    const write = (entry: LedgerEntry) => {
      written++
      return admission.append({
        kind: KIND[entry.kind],
        id: 'callId' in entry ? entry.callId : '',
        body: encodeBody(entry),
      })
    }
    return { gate, connections, write, nextSeq: () => written + 1 }
  }
  type Gate = Awaited<ReturnType<typeof openGate>>

  /** A call and its outcome, or a refusal. */
  async function call({ gate, write, nextSeq }: Gate, n: number): Promise<void> {
    const entry = makeCall(gate, n)
    if (entry.decision !== allowed) return void (await write({ ...entry, kind: 'refusal' }))
    // Together, in one statement: half as many, each of which waits for others to come along.
    const seq = nextSeq()
    const intent = write({ ...entry, kind: 'intent' })
    await write(outcomeEntry(seq, { atMs: entry.atMs + 5, status: 'answered', bytes: n }))
    expect(await intent).toBe(seq)
  }

  /** What retention does: up to the record of a call, or some after it. */
  async function dropThrough({ gate, connections }: Gate, callId: string, more = 0): Promise<void> {
    await connections.query(
      `INSERT INTO sluice.ledger_base (gate, seq, hash, checkpoint)
      SELECT gate, seq, hash, '' FROM sluice.ledger
        WHERE gate = $1 AND seq = $3 + (SELECT seq FROM sluice.ledger WHERE gate = $1 AND id = $2)
      ON CONFLICT (gate) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`,
      [gate, callId, more],
    )
    await connections.query(
      `DELETE FROM sluice.ledger l USING sluice.ledger_base b
      WHERE l.gate = $1 AND b.gate = $1 AND l.seq <= b.seq`,
      [gate],
    )
  }

  function read(store: string) {
    const directory = scratchDirectory()
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    Ledger.open({ directory }).close()
    new Names(directory).close()
    const reader = new LedgerReader({ directory, isMerged: true, store })
    ended.push(() => reader.close())
    return { directory, reader }
  }

  const DAY = { sinceMs: START_MS - 1_000, untilMs: START_MS + 86_400_000 }
  /** Once the store has answered. */
  async function readOverview(reader: LedgerReader, stretch: TimeRange): Promise<Overview> {
    for (;;) {
      const overview = await reader.ask('overview', stretch)
      if (overview.notFollowed === undefined && overview.behind === 0) return overview
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  async function countCalls(reader: LedgerReader): Promise<number> {
    const { totals } = await readOverview(reader, DAY)
    return Object.values(totals).reduce((sum, n) => sum + n, 0)
  }

  test('figures are those of one ledger with the calls of all gates', async () => {
    const store = await newStore()
    const gates = [
      await openGate(store, 'a'),
      await openGate(store, 'b'),
      await openGate(store, 'c'),
    ]
    const directory = scratchDirectory()
    const ledger = Ledger.open({ directory })
    for (let n = 0; n < 120; n++) {
      const gate = gates[n % 5 === 0 ? 0 : n % 3] as Gate
      await call(gate, n)
      const entry = makeCall(gate.gate, n)
      if (entry.decision === allowed) await ledger.intent(entry)
      else await ledger.refuse(entry)
    }
    ledger.close()
    const one = new LedgerReader({ directory })
    ended.push(() => one.close())
    const { reader } = read(store)
    const stretches = [DAY, { sinceMs: START_MS + 61_000, untilMs: START_MS + 4_000_500 }]
    for (const stretch of stretches) {
      const all = await readOverview(reader, stretch)
      expect(readFigures(all)).toEqual(readFigures(await one.ask('overview', stretch)))
    }
    for (const query of [{ server: 'mail' }, { word: 'deny' as const }, { text: 'tool-3' }]) {
      const found = await reader.ask('page', { ...query, limit: 500 })
      const expected = await one.ask('page', { ...query, limit: 500 })
      expect(found.calls.map(({ callId }) => callId)).toEqual(
        expected.calls.map(({ callId }) => callId),
      )
    }
    const { calls } = await reader.ask('page', { limit: 500 })
    expect(calls).toHaveLength(120)
    for (const { callId, code, status, origin } of calls)
      expect([status, origin?.gate]).toEqual([
        code === 'ALLOWED' ? 'answered' : null,
        callId.split('-')[0],
      ])
    // Also by the number that it has in the copy of another gate.
    for (const { callId, origin, session, atMs, seq } of calls.slice(0, 5))
      for (const number of [seq, seq - 1]) {
        const looked = await reader.ask('call', { callId, session, atMs, seq: number })
        expect(looked).toMatchObject({ called: { record: { callId } }, context: { origin } })
      }
    // With the numbers of their gates, and the hashes of these chains.
    const { text } = await reader.ask('stretch', {
      query: {},
      format: 'jsonl',
      from: { seq: 1, open: [] },
    })
    const exported = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    for (const { gate, connections } of gates) {
      const rows = await connections.query(
        'SELECT seq, hash FROM sluice.ledger WHERE gate = $1 ORDER BY seq',
        [gate],
      )
      const own = exported.filter((record) => record.gate === gate)
      expect(own.map(({ seq, hash }) => [seq, hash])).toEqual(
        rows.map(({ seq, hash }) => [Number(seq), (hash as Buffer).toString('hex')]),
      )
      for (const { kind, intent } of own)
        if (kind === 'outcome') expect(own.find(({ seq }) => seq === intent)?.kind).toBe('intent')
    }
  })

  test('a caller has a name before the gate knows it', async () => {
    const store = await newStore()
    const { connections, write } = await openGate(store, 'a')
    const salt = Buffer.alloc(32, 1)
    const name = 'ann@example.com'
    const token = makeToken(name, salt)
    const caller = { id: token, kind: 'grant' } as const
    await write({ ...makeCall('a', 7), principal: caller, kind: 'refusal' })
    const row = JSON.stringify({ token, name, salt: { base64: salt.toString('base64') } })
    const sql = "INSERT INTO sluice.shared VALUES ('names', 'x', 'x', $1, 1, 'x')"
    await connections.query(sql, [row])
    const { reader } = read(store)
    expect(await countCalls(reader)).toBe(1)
    const { calls } = await reader.ask('page', { principal: name, limit: 5 })
    expect(calls.map(({ principal }) => principal)).toEqual([name])
  })

  test('what comes later is read, also of a new gate, and after a pause of the reader', async () => {
    const store = await newStore()
    const a = await openGate(store, 'a')
    const { reader } = read(store)
    expect(await countCalls(reader)).toBe(0)
    for (let n = 0; n < 10; n++) await call(a, n)
    expect(await countCalls(reader)).toBe(10)
    // A call that is open when the reader stops, and ends while it is away.
    const entry = makeCall('a', 11)
    const open = await a.write({ ...entry, kind: 'intent' })
    expect((await reader.ask('page', { limit: 1 })).calls[0]?.status).toBeNull()
    await reader.close()
    await a.write(outcomeEntry(open, { atMs: entry.atMs + 9, status: 'error' }))
    const b = await openGate(store, 'b')
    // Most calls are two records: more than are read at once.
    const many = Math.ceil(0.6 * FOLLOWED_ROWS_MAX)
    await Promise.all(Array.from({ length: many }, (_, n) => call(b, 100 + n)))
    expect(b.nextSeq()).toBeGreaterThan(FOLLOWED_ROWS_MAX + 1)
    expect(await countCalls(reader)).toBe(11 + many)
    const { calls } = await reader.ask('page', { session: entry.session, limit: 500 })
    expect(calls.find(({ callId }) => callId === entry.callId)?.status).toBe('error')
  })

  test('records that a gate drops are dropped for all, so that the rest is complete', async () => {
    const store = await newStore()
    const [a, b] = [await openGate(store, 'a'), await openGate(store, 'b')]
    const { reader } = read(store)
    for (let n = 0; n < 40; n++) await call(n % 2 === 0 ? a : b, n)
    expect(await countCalls(reader)).toBe(40)
    await dropThrough(a, 'a-20')
    const left = async (from: LedgerReader) =>
      (await from.ask('page', { limit: 500, order: 'oldest' })).calls.map(({ callId }) => callId)
    // Call a-20 is gone and its outcome is left; of b, what came after that.
    const kept = Array.from({ length: 19 }, (_, at) => `${at % 2 === 0 ? 'b' : 'a'}-${at + 21}`)
    expect(await countCalls(reader)).toBe(19)
    expect(await left(reader)).toEqual(kept)
    // A copy that is made now begins with that outcome.
    const { reader: fresh } = read(store)
    expect(await countCalls(fresh)).toBe(19)
    expect(await left(fresh)).toEqual(kept)
    // Another gate drops too. No look after that drops more.
    await dropThrough(b, 'b-25')
    for (const copy of [reader, fresh, read(store).reader])
      for (let look = 0; look < 3; look++) {
        expect(await countCalls(copy)).toBe(14)
        expect(await left(copy)).toEqual(kept.slice(5))
      }
    // A gate that has dropped all it had, as one where nothing happens any more.
    await dropThrough(a, 'a-38', 1)
    expect(await countCalls(reader)).toBe(1)
    expect(await left(reader)).toEqual(['b-39'])
  })

  test('records that a gate drops before they are copied are not said to be missing', async () => {
    const store = await newStore()
    const [a, b] = [await openGate(store, 'a'), await openGate(store, 'b')]
    for (let n = 0; n < 40; n++) await call(n % 2 === 0 ? a : b, n)
    const chains = new FollowedChains(a.connections, new Map())
    await chains.look()
    await dropThrough(a, 'a-20')
    const taken = await chains.take()
    const [first] = taken.filter(({ gate }) => gate === 'a')
    expect(first?.text).toContain('"answered"')
    expect(chains.behind).toBe(0)
    expect((await chains.look()).isSame).toBe(true)
    // All that was fetched is dropped before the gap is explained.
    let fetches = 0
    const query: typeof a.connections.query = async (text, values, deadlineMs) => {
      const rows = await a.connections.query(text, values, deadlineMs)
      if (text !== CHAINS_AFTER || fetches++ > 0) return rows
      await dropThrough(a, 'a-38', 1)
      await call(a, 40)
      return rows
    }
    const late = new FollowedChains({ query }, new Map())
    await late.look()
    await dropThrough(a, 'a-30')
    const rest = await late.take()
    expect(rest.filter(({ gate }) => gate === 'a').map(({ text }) => text)).toEqual([
      expect.stringContaining('a-40'),
      expect.stringContaining('"answered"'),
    ])
  })

  test.each(forms(['replaced by garbage', 'deleted']))(
    'a copy that was %s is made again',
    async (how) => {
      const store = await newStore()
      const a = await openGate(store, 'a')
      const { reader, directory } = read(store)
      for (let n = 0; n < 20; n++) await call(a, n)
      expect(await countCalls(reader)).toBe(20)
      const folder = join(directory, MERGED_FOLDER)
      if (how === 'deleted') rmSync(folder, { recursive: true })
      else {
        await reader.close()
        for (const name of ['ledger.db', 'ledger-index.db']) {
          for (const suffix of ['-wal', '-shm'])
            rmSync(join(folder, `${name}${suffix}`), { force: true })
          writeFileSync(join(folder, name), 'garbage'.repeat(1_000))
        }
      }
      await call(a, 20)
      // A question may find the files gone, and is asked again.
      await expect.poll(() => countCalls(reader).catch(() => undefined)).toBe(21)
      expect(statSync(join(folder, 'ledger.db')).mode & 0o777).toBe(0o600)
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    },
  )

  test('a store that lost records is read again from its beginning', async () => {
    const store = await newStore()
    const [a, b] = [await openGate(store, 'a'), await openGate(store, 'b')]
    const { reader } = read(store)
    for (let n = 0; n < 20; n++) await call(n % 2 === 0 ? a : b, n)
    expect(await countCalls(reader)).toBe(20)
    const [newest] = (await reader.ask('page', { limit: 1 })).calls
    await a.connections.query(
      `WITH kept AS (SELECT seq, hash FROM sluice.ledger WHERE gate = 'a' AND id = 'a-4')
      UPDATE sluice.gates g SET seq = kept.seq, head = kept.hash FROM kept WHERE g.gate = 'a'`,
    )
    await a.connections.query(
      "DELETE FROM sluice.ledger l USING sluice.gates g WHERE l.gate = 'a' AND g.gate = 'a' AND l.seq > g.seq",
    )
    expect(await countCalls(reader)).toBe(13)
    const { calls } = await reader.ask('page', { limit: 500 })
    expect(calls.filter(({ origin }) => origin?.gate === 'a').map(({ callId }) => callId)).toEqual([
      'a-4',
      'a-2',
      'a-0',
    ])
    // A page that somebody is reading goes on by number.
    expect(calls.at(-1)?.seq).toBeGreaterThan(newest?.seq ?? 0)
  })

  test('an edited record, or a store that does not answer, is said with what is known', async () => {
    const store = await newStore()
    const [a, b] = [await openGate(store, 'a'), await openGate(store, 'b')]
    const { reader } = read(store)
    for (let n = 0; n < 4; n++) await call(n % 2 === 0 ? a : b, n)
    expect(await countCalls(reader)).toBe(4)
    for (let n = 4; n < 8; n++) await call(n % 2 === 0 ? a : b, n)
    await a.connections.query(
      `UPDATE sluice.ledger SET body = convert_to(replace(convert_from(body, 'UTF8'), 'person-6', 'person-7'), 'UTF8')
      WHERE gate = 'a' AND id = 'a-6'`,
    )
    const complaint = async () => (await reader.ask('overview', DAY)).notFollowed
    await expect
      .poll(complaint)
      .toMatch(/the chain of the gate `a` does not verify: record \d+ was edited/)
    const page = await reader.ask('page', { limit: 10 })
    expect(page.notFollowed).toContain('was edited')
    expect(page.calls.length).toBeGreaterThanOrEqual(4)
    expect(page.calls.some(({ callId }) => callId === 'a-6')).toBe(false)
    const { reader: cut } = read('postgres://sluice@127.0.0.1:1/nowhere')
    const unreachable = async () => (await cut.ask('overview', DAY)).notFollowed
    await expect.poll(unreachable).toMatch(/127\.0\.0\.1:1/)
    expect((await cut.ask('page', { limit: 10 })).calls).toEqual([])
  })
})

function makeCall(gate: string, n: number): DecisionEntry {
  return decisionEntry(n, {
    callId: `${gate}-${n}`,
    atMs: START_MS + n * 41_000,
    decision: n % 7 === 0 ? denied : allowed,
    session: `session-${n % 11}`,
    agent: n % 4 === 0 ? `agent-${n % 3}` : null,
    principal: { id: `person-${n % 9}`, kind: 'grant' },
    server: n % 2 === 0 ? 'files' : 'mail',
    name: `tool-${n % 6}`,
  })
}
