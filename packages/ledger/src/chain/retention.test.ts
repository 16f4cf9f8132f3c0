// Records dropped by retention: the rest verifies, what is still needed is retained, and records
// dropped by hand are detected.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { queryLedger } from '../query/query.ts'
import { RecordIndex } from '../query/record-index.ts'
import { CHECKPOINTS_FILE } from '../records/files.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { signerForTests } from '../signer.test-support.ts'
import { checkProof, proveRecord } from '../verify/proof.ts'
import { verifyLedger } from '../verify/verify.ts'
import { readCheckpoints, thinCheckpoints } from './checkpoint-file.ts'
import { openLedgerReadOnly, recordsFrom } from './read.ts'

const signer = signerForTests('retention')
const DAY_MS = 86_400_000
const START_MS = 1_800_000_000_000

/**
 * Ten days of 40 records, with a checkpoint for each; `open` leaves the intent of that day open.
 */
async function tenDays(openDay = -1) {
  const directory = freshDirectory()
  let nowMs = START_MS
  const options = { directory, now: () => nowMs, checkpoints: { signer, every: 1_000 } }
  for (let day = 0; day < 10; day++, nowMs += DAY_MS) {
    const ledger = Ledger.open(options)
    for (let n = 0; n < 20; n++) {
      const seq = await ledger.intent(decisionEntry(day * 20 + n, { atMs: nowMs }))
      if (day !== openDay || n > 0) ledger.outcome(seq, { atMs: nowMs, status: 'answered' })
    }
    // A restart would mark it as unknown: the same run continues.
    if (day === openDay) {
      for (; day < 9; day++, nowMs += DAY_MS)
        await ledger.intent(decisionEntry(day, { atMs: nowMs }))
      return { directory, options, ledger }
    }
    ledger.close()
  }
  return { directory, options, ledger: Ledger.open(options) }
}

function problemsOf(directory: string): readonly unknown[] {
  const database = openLedgerReadOnly(directory)
  try {
    const checkpoints = readCheckpoints(join(directory, CHECKPOINTS_FILE))
    return verifyLedger(database, { checkpoints, keys: [signer.publicKey] }).problems
  } finally {
    database.close()
  }
}

test('by age: the chain, proofs and queries of what is left are as before', async () => {
  const { directory, options, ledger } = await tenDays()
  const reader = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, reader)
  index.catchUp()
  const dropped = await ledger.retain({ keepMs: 4 * DAY_MS }, Number.POSITIVE_INFINITY)
  expect(dropped).toBe(7 * 40)
  ledger.close()
  expect(problemsOf(directory)).toEqual([])
  const verified = verifyLedger(reader)
  expect(verified).toMatchObject({ dropped: 280, records: 3 * 40 + 1 })
  const { calls } = queryLedger(reader, { limit: 1_000 }, index)
  expect(calls.map(({ record }) => record.seq).every((seq) => seq > 280)).toBe(true)
  expect(calls).toHaveLength(60)
  const { checkpoint } = readCheckpoints(join(directory, CHECKPOINTS_FILE)).at(-1)!
  for (const seq of [281, 300, checkpoint.seq])
    expect(checkProof(proveRecord(reader, seq, checkpoint), checkpoint)).toHaveProperty('record')
  expect(() => proveRecord(reader, 280, checkpoint)).toThrow('were dropped after their time')
  index.close()
  reader.close()
  // And it continues.
  const again = Ledger.open(options)
  await again.intent(decisionEntry(1))
  expect(await again.retain({ keepMs: 4 * DAY_MS }, Number.POSITIVE_INFINITY)).toBe(0)
  again.close()
  expect(problemsOf(directory)).toEqual([])
})

test('P5: what was dropped is in no file any more, neither in the ledger nor among the words of its index', async () => {
  const directory = freshDirectory()
  let nowMs = START_MS
  const options = { directory, now: () => nowMs, checkpoints: { signer, every: 1_000 } }
  const nameOf = (day: number, n: number) => `ann-${day}-${n}@example.org`
  for (let day = 0; day < 4; day++, nowMs += DAY_MS) {
    const writing = Ledger.open(options)
    for (let n = 0; n < 100; n++) {
      const principal = { id: nameOf(day, n), kind: 'grant' }
      const seq = await writing.intent(decisionEntry(n, { atMs: nowMs, principal }))
      writing.outcome(seq, { atMs: nowMs, status: 'answered' })
    }
    writing.close()
  }
  const ledger = Ledger.open(options)
  const reader = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, reader)
  index.catchUp()
  expect(await ledger.retain({ keepMs: 1.5 * DAY_MS }, Number.POSITIVE_INFINITY)).toBeGreaterThan(
    500,
  )
  while (!index.catchUp(10));
  expect(queryLedger(reader, { principal: nameOf(3, 99) }, index).calls).toHaveLength(1)
  index.close()
  reader.close()
  ledger.close()
  const left = queryNames(directory)
  expect(left.size).toBeLessThan(200)
  for (const file of readdirSync(directory)) {
    const text = readFileSync(join(directory, file), 'latin1')
    for (const [name] of text.matchAll(/ann-\d+-\d+@example\.org/g)) expect(left).toContain(name)
  }
})

function queryNames(directory: string): Set<string> {
  using database = openLedgerReadOnly(directory)
  return new Set(
    [...recordsFrom(database)].flatMap((record) =>
      record.kind === 'intent' ? [record.principal.id] : [],
    ),
  )
}

test('by size: about the excess', async () => {
  const { directory, ledger } = await tenDays()
  const dropped = await ledger.retain({ keepBytes: 60_000 }, Number.POSITIVE_INFINITY)
  expect(dropped).toBeGreaterThan(100)
  expect(dropped).toBeLessThan(400)
  ledger.close()
  expect(problemsOf(directory)).toEqual([])
})

test('what is still needed is never dropped: windows, sessions, approvals, open calls', async () => {
  const { ledger } = await tenDays()
  expect(await ledger.retain({ keepMs: DAY_MS }, START_MS - 1)).toBe(0)
  expect(await ledger.retain({ keepMs: DAY_MS }, START_MS + 2.5 * DAY_MS)).toBe(3 * 40)
  ledger.close()
  const open = await tenDays(2)
  expect(await open.ledger.retain({ keepMs: DAY_MS }, Number.POSITIVE_INFINITY)).toBe(2 * 40)
  open.ledger.close()
})

describe('a clock that was set', () => {
  /** A checkpoint after each of these days, at the time that the clock shows. */
  async function daysOf(...days: readonly number[]) {
    const directory = freshDirectory()
    let nowMs = START_MS
    const options = { directory, now: () => nowMs, checkpoints: { signer, every: 1_000 } }
    for (const day of days) {
      nowMs = START_MS + day * DAY_MS
      const ledger = Ledger.open(options)
      for (let n = 0; n < 10; n++) {
        const seq = await ledger.intent(decisionEntry(n, { atMs: nowMs }))
        ledger.outcome(seq, { atMs: nowMs, status: 'answered' })
      }
      ledger.close()
    }
    return { directory, ledger: Ledger.open(options) }
  }
  const FOUR_DAYS = { keepMs: 4 * DAY_MS }
  const BY_SIZE = { keepBytes: 1 }
  const of = (days: number) => days * 20

  test('back for a while: what was written before is not older for it', async () => {
    const { directory, ledger } = await daysOf(0, 1, 8, 9, -400, 10)
    expect(await ledger.retain(FOUR_DAYS, Number.POSITIVE_INFINITY)).toBe(of(2))
    ledger.close()
    expect(problemsOf(directory)).toEqual([])
  })

  test('back for a while: what a limit or a session still needs is not dropped', async () => {
    const { ledger } = await daysOf(0, 1, 8, 9, -400, 10)
    expect(await ledger.retain(BY_SIZE, START_MS + 8.5 * DAY_MS)).toBe(of(3))
    ledger.close()
  })

  test('ahead for a while: what was written then goes with what came after it', async () => {
    const { directory, ledger } = await daysOf(0, 1, 20_000, 2, 9, 10)
    expect(await ledger.retain(FOUR_DAYS, Number.POSITIVE_INFINITY)).toBe(of(4))
    ledger.close()
    expect(problemsOf(directory)).toEqual([])
  })

  test('ahead until now: nothing that was written then is dropped', async () => {
    const { ledger } = await daysOf(0, 20_000, 20_001, 10)
    expect(await ledger.retain(FOUR_DAYS, Number.POSITIVE_INFINITY)).toBe(of(1))
    ledger.close()
  })
})

test('records dropped by hand are missing, whichever checkpoint replaces them', async () => {
  const { directory, ledger } = await tenDays()
  ledger.close()
  const { checkpoint } = readCheckpoints(join(directory, CHECKPOINTS_FILE))[4]!
  const database = new DatabaseSync(join(directory, 'ledger.db'))
  database.exec(`DELETE FROM blocks WHERE seq <= ${checkpoint.seq}; DELETE FROM anchors`)
  const base = database.prepare('INSERT INTO base VALUES (1, ?, ?, ?)')
  base.run(checkpoint.seq, Buffer.from(checkpoint.head, 'hex'), JSON.stringify(checkpoint))
  expect(problemsOf(directory)).toMatchObject([{ seq: 1, kind: 'missing' }])
  const forged = { ...checkpoint, seq: 1 }
  database.prepare('UPDATE base SET checkpoint = ?').run(JSON.stringify(forged))
  expect(problemsOf(directory)).toMatchObject([
    { seq: 1, kind: 'missing' },
    { seq: checkpoint.seq, kind: 'forged' },
  ])
  database.close()
})

test('a large file of checkpoints is thinned, and can still be searched', async () => {
  const { directory, ledger } = await tenDays()
  const file = join(directory, CHECKPOINTS_FILE)
  const before = readCheckpoints(file)
  thinCheckpoints(file, 10)
  const after = readCheckpoints(file)
  expect(after.length).toBeLessThan(before.length / 4)
  expect(after.at(-1)?.checkpoint).toEqual(before.at(-1)?.checkpoint)
  ledger.close()
  expect(problemsOf(directory)).toEqual([])
})
