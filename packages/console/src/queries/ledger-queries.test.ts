// What the console reads of a ledger that the index is behind: answers at once, that say what they lack,
// and an index that catches up between two questions. And the thread that reads it.

import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allowed, decisionEntry } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerQueries } from './ledger-queries.ts'
import { LedgerReader } from './ledger-reader.ts'

const CALLS = 300
const STEP = 100
const PART = 150
let directory: string
let reading: LedgerQueries

async function append(ledger: Ledger, n: number): Promise<void> {
  const call = decisionEntry(n, {
    atMs: 1_000_000 + n * 1_000,
    session: `session-${n % 3}`,
    decision: allowed,
    callId: `call-${n}`,
    server: 'notes',
    name: n === 250 ? 'rare' : 'common',
  })
  const seq = await ledger.intent(call)
  ledger.outcome(seq, { atMs: call.atMs + 5, status: 'answered', bytes: n })
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-reading-'))
  const ledger = Ledger.open({ directory })
  // In many blocks: the index takes whole ones in.
  for (let first = 0; first < CALLS; first += 20)
    await Promise.all(Array.from({ length: 20 }, (_, at) => append(ledger, first + at)))
  await ledger.event({ atMs: 2_000_000, name: 'stop', detail: {} })
  ledger.close()
  reading = new LedgerQueries(directory, { waitMs: 0, stepRecords: STEP })
})

afterAll(() => {
  reading.close()
  rmSync(directory, { recursive: true })
})

test('the newest calls need no index, and neither does a call whose number is known', () => {
  const { calls, next, behind } = reading.page({ limit: 5 })
  expect([calls.length, behind]).toEqual([5, 0])
  expect(calls.every(({ status }) => status === 'answered')).toBe(true)
  const older = reading.page({ limit: 5, before: next as number })
  expect([older.calls.length, older.behind]).toEqual([5, 0])
  expect(older.calls[0]?.seq).toBeLessThan(calls.at(-1)?.seq as number)
  const { callId, session, atMs, seq } = older.calls[2] as (typeof older.calls)[number]
  const found = { called: { record: { callId }, outcome: { status: 'answered' } }, behind: 0 }
  expect(reading.call({ callId, session, atMs, seq })).toMatchObject(found)
  expect(reading.call({ callId, session, atMs })).toMatchObject(found)
  // The number of one call and the name of another are no call.
  expect(reading.call({ callId: 'call-1', session, atMs, seq }).called).toBeNull()
})

test('a question with a filter is answered from what is indexed and says how much is not', () => {
  const asked = { name: 'rare', limit: 10 }
  const first = reading.page(asked)
  expect(first.calls).toEqual([])
  expect(first.behind).toBeGreaterThan(0)
  const again = reading.page(asked)
  expect(again.behind).toBeLessThan(first.behind)
  while (reading.goOn());
  expect(reading.page(asked)).toMatchObject({ calls: [{ callId: 'call-250' }], behind: 0 })
  expect(reading.goOn()).toBe(false)
})

test('a text is searched in parts, each with where the next goes on, and nothing is missed', () => {
  while (reading.goOn()) {}
  const parts = new LedgerQueries(directory, { waitMs: 1_000, stepRecords: STEP }, PART)
  const whole = reading.page({ text: 'rare', limit: 10 })
  expect(whole).toMatchObject({ next: null, calls: [{ name: 'rare' }] })
  expect(whole.searchedToMs).toBeUndefined()
  for (const order of ['newest', 'oldest'] as const) {
    const found: number[] = []
    const reached: number[] = []
    const cursor = order === 'newest' ? 'before' : 'after'
    for (let next: number | null | undefined; next !== null; ) {
      const at = next === undefined ? {} : { [cursor]: next }
      const page = parts.page({ text: 'rare', order, limit: 10, ...at })
      found.push(...page.calls.map(({ seq }) => seq))
      if (page.searchedToMs !== undefined) reached.push(page.searchedToMs)
      next = page.next
    }
    expect(found).toEqual(whole.calls.map(({ seq }) => seq))
    const inOrder = reached.toSorted((a, b) => (order === 'newest' ? b - a : a - b))
    expect([reached.length, reached]).toEqual([Math.ceil((CALLS * 2) / PART) - 1, inOrder])
  }
  // Those of a full page come before the rest of its part.
  const { calls, next, searchedToMs } = parts.page({ text: 'common', limit: 10 })
  expect([calls.length, next, searchedToMs]).toEqual([10, calls.at(-1)?.seq, undefined])
  parts.close()
})

test('the thread answers others between two parts, and stops when nobody waits for the answer', async () => {
  const reader = new LedgerReader({ directory })
  const answered: string[] = []
  const leaver = { socket: new EventEmitter() as never }
  const given = reader.ask('histogram', {}, leaver)
  const counted = reader.ask('histogram', { server: 'notes' }).then(({ intervals }) => {
    answered.push('histogram')
    return intervals.flatMap(({ counts }) => counts.allow ?? 0)
  })
  const page = reader.ask('page', { limit: 5 }).then(() => answered.push('page'))
  ;(leaver.socket as EventEmitter).emit('close')
  await expect(given).rejects.toThrow('connection was closed')
  expect((await counted).reduce((sum, n) => sum + n, 0)).toBe(CALLS)
  await page
  expect(answered).toEqual(['page', 'histogram'])
  expect((leaver.socket as EventEmitter).listenerCount('close')).toBe(0)
  await reader.close()
})
