// What the console reads of a ledger that the index is behind: answers at once, that say what they lack,
// and an index that catches up between two questions.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowed, judgement } from '../../ledger/judgements.test-support.ts'
import { Ledger } from '../../ledger/ledger.ts'
import { LedgerQueries } from './ledger-queries.ts'

const CALLS = 300
const STEP = 100
let directory: string
let reading: LedgerQueries

async function append(ledger: Ledger, n: number): Promise<void> {
  const call = judgement(n, {
    ...{ atMs: 1_000_000 + n * 1_000, session: `session-${n % 3}`, decision: allowed },
    ...{ callId: `call-${n}`, server: 'notes', name: n === 250 ? 'rare' : 'common' },
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
