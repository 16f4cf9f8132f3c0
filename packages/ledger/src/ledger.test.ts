// The ledger: grouping, durability, recovery, and behaviour while writing fails.

import { mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openLedgerReadOnly, recordsFrom } from './chain/read.ts'
import { decisionEntry, denied } from './decision-entries.test-support.ts'
import { Ledger, type LedgerOptions } from './ledger.ts'
import { KEPT_OUTCOMES_MAX, RESERVE_BYTES } from './records/limits.ts'
import type { LedgerRecord } from './records/record.ts'
import { freshDirectory } from './samples.test-support.ts'
import { StoreError } from './store/errors.ts'
import { verifyLedger } from './verify/verify.ts'

function open(directory: string, options: Partial<LedgerOptions> = {}): Ledger {
  const ledger = Ledger.open({ directory, ...options })
  onTestFinished(() => ledger.close())
  return ledger
}

function records(directory: string): LedgerRecord[] {
  const database = openLedgerReadOnly(directory)
  expect(verifyLedger(database).problems).toEqual([])
  const all = [...recordsFrom(database)]
  database.close()
  return all
}

const answered = { atMs: 5, status: 'answered' } as const

describe('appending', () => {
  test('entries of one turn are one transaction, in order', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    const all = await Promise.all([
      ...Array.from({ length: 50 }, (_, n) => ledger.intent(decisionEntry(n))),
      ledger.refuse(decisionEntry(50, { decision: denied })),
      ledger.event({ atMs: 1, name: 'start', detail: { version: '1' } }),
    ])
    expect(all).toEqual(Array.from({ length: 52 }, (_, n) => n + 1))
    expect(ledger.figures).toMatchObject({ commits: 1, seq: 52, open: 50 })
    const database = openLedgerReadOnly(directory)
    expect(database.prepare('SELECT count(*) AS n FROM blocks').get()).toEqual({ n: 1 })
    database.close()
  })

  test('the next turn is the next transaction', async () => {
    const ledger = open(freshDirectory())
    for (let n = 0; n < 5; n++) await ledger.intent(decisionEntry(n))
    expect(ledger.figures.commits).toBe(5)
  })

  test('outcomes join the next commit, or get their own soon', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    const first = await ledger.intent(decisionEntry(1))
    ledger.outcome(first, answered)
    await ledger.intent(decisionEntry(2))
    expect(ledger.figures).toMatchObject({ commits: 2, seq: 3, open: 1 })
    ledger.outcome(3, { ...answered, durationMs: 1.5, labels: ['private'] })
    await vi.waitFor(() => expect(ledger.figures).toMatchObject({ commits: 3, open: 0 }), 60_000)
    expect(records(directory).at(-1)).toMatchObject({ intent: 3, labels: ['private'], attempts: 1 })
  })

  test('it is on disk when the promise resolves', async () => {
    const directory = freshDirectory()
    const seq = await open(directory).intent(decisionEntry(7))
    expect(records(directory).find((record) => record.seq === seq)).toEqual({
      ...decisionEntry(7),
      kind: 'intent',
      seq,
    })
  })

  test('a record that cannot be stored is refused alone', async () => {
    const ledger = open(freshDirectory())
    const settled = await Promise.allSettled([
      ledger.intent(decisionEntry(1)),
      ledger.intent(decisionEntry(2, { judged: { x: Number.NaN } })),
      ledger.event({ atMs: 1, name: 'huge', detail: 'x'.repeat(300_000) }),
      ledger.intent(decisionEntry(3)),
    ])
    expect(settled).toMatchObject([
      { value: 1 },
      { reason: { code: 'LEDGER_RECORD' } },
      { reason: { code: 'LEDGER_RECORD' } },
      { value: 2 },
    ])
  })

  test('an outcome that cannot be stored whole is stored as its status', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    ledger.outcome(await ledger.intent(decisionEntry(1)), { ...answered, durationMs: Number.NaN })
    await vi.waitFor(() => expect(ledger.figures.open).toBe(0), 60_000)
    expect(records(directory).at(-1)).toMatchObject({ intent: 1, status: 'answered' })
  })

  test('a large turn is split into blocks of one transaction', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    const detail = 'x'.repeat(200_000)
    await Promise.all(
      Array.from({ length: 20 }, () => ledger.event({ atMs: 1, name: 'large', detail })),
    )
    expect(ledger.figures.commits).toBe(1)
    expect(records(directory)).toHaveLength(20)
  })

  test('files are for their owner only', async () => {
    const directory = join(freshDirectory(), 'data')
    await open(directory).intent(decisionEntry(1))
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    for (const name of ['ledger.db', 'ledger.db-wal', 'ledger.db-shm', 'ledger.reserve'])
      expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600])
  })

  test('with full sync', async () => {
    const directory = freshDirectory()
    expect(await open(directory, { sync: 'full' }).intent(decisionEntry(1))).toBe(1)
  })

  test('nothing is written after the end', async () => {
    const ledger = open(freshDirectory())
    const last = ledger.intent(decisionEntry(1))
    ledger.close()
    ledger.close()
    expect(await last).toBe(1)
    ledger.outcome(1, answered)
    await expect(ledger.intent(decisionEntry(2))).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
    })
    await expect(ledger.refuse(decisionEntry(2))).rejects.toMatchObject({
      message: expect.stringMatching(/closed/),
    })
  })
})

describe('restart', () => {
  test('marks open calls as unknown, once, and continues the chain', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    for (let n = 1; n <= 4; n++) await ledger.intent(decisionEntry(n))
    ledger.outcome(2, answered)
    ledger.close()
    open(directory, { now: () => 99 }).close()
    const again = open(directory)
    expect(await again.intent(decisionEntry(5))).toBe(10)
    const seen = records(directory)
    expect(seen.slice(5, 9)).toMatchObject([
      { intent: 1, status: 'unknown', atMs: 99 },
      { intent: 3, status: 'unknown' },
      { intent: 4, status: 'unknown' },
      { kind: 'event', name: 'recovery', detail: { unknown: 3 } },
    ])
  })

  test('a clean end leaves nothing to do', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    ledger.outcome(await ledger.intent(decisionEntry(1)), answered)
    ledger.close()
    expect(open(directory).figures).toMatchObject({ commits: 0, seq: 2, open: 0 })
  })

  test('a chain whose end was edited is not continued', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    for (let n = 1; n <= 9; n++) await ledger.intent(decisionEntry(n))
    ledger.close()
    edit(directory, "UPDATE blocks SET data = replace(data, 'call-7', 'call-6') WHERE seq = 7")
    expect(() => Ledger.open({ directory })).toThrow(/record 7 was edited/)
    edit(directory, 'DELETE FROM blocks')
    expect(() => Ledger.open({ directory })).toThrow(/records 1 to 9 are missing/)
  })
})

function edit(directory: string, sql: string): void {
  const database = new DatabaseSync(join(directory, 'ledger.db'))
  database.exec(
    sql.replace(/replace\(data, '(.*)', '(.*)'\)/, (_, from, to) => {
      const hex = (text: string) => Buffer.from(text).toString('hex').toUpperCase()
      return `unhex(replace(hex(data), '${hex(from)}', '${hex(to)}'))`
    }),
  )
  database.close()
}

describe('while writing fails', () => {
  /** Another process that is writing: a second connection with an open transaction. */
  function lock(directory: string): () => void {
    const other = new DatabaseSync(join(directory, 'ledger.db'))
    other.exec('BEGIN IMMEDIATE')
    return () => other.close()
  }

  test('intents are refused, and accepted again automatically', async () => {
    const directory = freshDirectory()
    const states: string[] = []
    const ledger = open(directory, { onState: (state) => states.push(state) })
    const first = await ledger.intent(decisionEntry(1))
    const unlock = lock(directory)
    await expect(ledger.intent(decisionEntry(2))).rejects.toMatchObject({
      code: 'LEDGER_UNAVAILABLE',
      why: 'STORE_LOCKED',
      help: expect.stringMatching(/recovers automatically/),
    })
    expect(ledger.state).toBe('failing')
    // Without waiting for the lock: the database is not asked.
    const statements = vi.spyOn(DatabaseSync.prototype, 'exec')
    await expect(ledger.intent(decisionEntry(3))).rejects.toMatchObject({ why: 'STORE_LOCKED' })
    await expect(ledger.refuse(decisionEntry(3))).rejects.toMatchObject({ why: 'STORE_LOCKED' })
    expect(statements.mock.calls.filter(([sql]) => /^BEGIN/i.test(sql))).toEqual([])
    statements.mockRestore()
    ledger.outcome(first, answered)
    expect(ledger.figures.kept).toBe(1)
    await pause(200)
    unlock()
    await vi.waitFor(() => expect(ledger.state).toBe('writing'), { timeout: 60_000 })
    expect(ledger.fault).toBeUndefined()
    await ledger.intent(decisionEntry(4))
    expect(records(directory)).toMatchObject([
      { callId: 'call-1' },
      { kind: 'outcome', intent: 1, status: 'answered' },
      { name: 'ledger-recovery', detail: { notRecorded: { refusals: 1, events: 0, outcomes: 0 } } },
      { callId: 'call-4' },
    ])
    expect(states).toEqual(['failing', 'reserve', 'writing'])
  })

  test('outcomes are buffered up to their bound; the rest is unknown at the next start', async () => {
    const directory = freshDirectory()
    const ledger = open(directory)
    await Promise.all([1, 2].map((n) => ledger.intent(decisionEntry(n))))
    const unlock = lock(directory)
    await expect(ledger.intent(decisionEntry(3))).rejects.toThrow()
    for (let n = 0; n < KEPT_OUTCOMES_MAX; n++) ledger.outcome(1, answered)
    ledger.outcome(2, answered)
    expect(ledger.figures.kept).toBe(KEPT_OUTCOMES_MAX)
    ledger.close()
    unlock()
    open(directory).close()
    expect(records(directory)).toMatchObject([
      { callId: 'call-1' },
      { callId: 'call-2' },
      { intent: 1, status: 'unknown' },
      { intent: 2, status: 'unknown' },
      { name: 'recovery' },
    ])
  })

  test('two writers cannot fork the chain', async () => {
    const directory = freshDirectory()
    const one = open(directory)
    const two = open(directory)
    await one.intent(decisionEntry(1))
    await expect(two.intent(decisionEntry(2))).rejects.toMatchObject({ why: 'STORE_LOCKED' })
    await vi.waitFor(() => expect(two.state).toBe('writing'), { timeout: 60_000 })
    await two.intent(decisionEntry(3))
    const kinds = records(directory).map((record) => record.kind)
    expect(kinds).toEqual(['intent', 'event', 'intent'])
  })

  test('a file that was moved away is not written to', async () => {
    const directory = freshDirectory()
    let nowMs = 10_000
    const ledger = open(directory, { now: () => nowMs })
    await ledger.intent(decisionEntry(1))
    const file = join(directory, 'ledger.db')
    renameSync(file, `${file}.away`)
    nowMs += 2_000
    await expect(ledger.intent(decisionEntry(2))).rejects.toMatchObject({ why: 'STORE_MISSING' })
    renameSync(`${file}.away`, file)
    await vi.waitFor(() => expect(ledger.state).toBe('writing'), { timeout: 60_000 })
    await ledger.intent(decisionEntry(3))
    expect(records(directory).map((record) => record.kind)).toEqual(['intent', 'event', 'intent'])
  })

  test('a directory that cannot be created is reported', () => {
    const directory = freshDirectory()
    mkdirSync(join(directory, 'ledger.db'))
    expect(() => Ledger.open({ directory })).toThrow(StoreError)
  })
})

test('the reserve takes its space', () => {
  const directory = freshDirectory()
  open(directory)
  expect(statSync(join(directory, 'ledger.reserve')).size).toBe(RESERVE_BYTES)
})
