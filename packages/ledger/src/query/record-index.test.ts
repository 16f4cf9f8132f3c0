// What retention drops from the ledger is dropped from the index, some records at a time.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { hashAt, openLedgerReadOnly } from '../chain/read.ts'
import { allowed, decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { DROPPED_PER_INDEXED } from '../records/limits.ts'
import { RecordIndex } from './record-index.ts'

const MINUTE_MS = 60_000
const CALLS = 100

/** Calls over two hours with their outcomes, then events alone. */
async function fill(directory: string): Promise<number> {
  const ledger = Ledger.open({ directory })
  for (let n = 0; n < CALLS; n++) {
    const atMs = 1_800_000_000_000 + n * MINUTE_MS
    const seq = await ledger.intent(
      decisionEntry(n, { atMs, session: 'ann#0@1', decision: allowed }),
    )
    ledger.outcome(seq, { atMs, status: 'answered', labels: [] })
  }
  for (let n = 0; n < CALLS; n++)
    await ledger.event({ atMs: 1_800_000_000_000, name: 'start', detail: {} })
  const { seq } = ledger.head
  ledger.close()
  return seq
}

/** Calls, and those that the counts by minute and by hour have. */
const COUNTED = `SELECT (SELECT count(*) FROM calls) AS calls, (SELECT coalesce(sum(n), 0) FROM minutes) AS minutes,
  (SELECT coalesce(sum(n), 0) FROM hours WHERE kind = 1) AS hours`

test.each([0.2, 0.5, 0.9, 1])(
  'finding: %d of a ledger that are dropped leave the index in parts',
  async (share) => {
    const directory = scratchDirectory()
    const last = await fill(directory)
    const ledger = openLedgerReadOnly(directory)
    const index = new RecordIndex(directory, ledger)
    expect(index.catchUp()).toBe(true)
    const base = Math.floor(last * share)
    const writer = new DatabaseSync(`${directory}/ledger.db`)
    const hash = Buffer.from(hashAt(ledger, base) as string, 'latin1')
    writer.prepare("INSERT INTO base VALUES (1, ?, ?, '')").run(base, hash)
    writer.close()
    const rowsUpTo = (seq: number) =>
      Number(
        index.database
          .prepare(
            `SELECT (SELECT count(*) FROM calls WHERE seq <= ?1)
              + (SELECT count(*) FROM outcomes WHERE intent <= ?1)
              + (SELECT count(*) FROM events WHERE seq <= ?1) AS n`,
          )
          .get(seq)?.n,
      )
    let before = rowsUpTo(base)
    expect(before).toBeGreaterThan(2 * DROPPED_PER_INDEXED)
    for (let parts = 0; before > 0; parts++) {
      expect(parts).toBeLessThan(last)
      const isDone = index.catchUp(1)
      // An index of which more was dropped than is left is built again.
      if (base <= last - base) expect(isDone).toBe(rowsUpTo(base) === 0)
      const now = rowsUpTo(base)
      // A call and its outcome are two rows of one record.
      expect(before - now).toBeLessThanOrEqual(2 * DROPPED_PER_INDEXED)
      const { calls, minutes, hours } = index.database.prepare(COUNTED).get() ?? {}
      expect([minutes, hours]).toEqual([calls, calls])
      before = now
    }
    const count = (table: string) =>
      Number(index.database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)
    if (base >= 2 * CALLS) expect([count('minutes'), count('hours')]).toEqual([0, 0])
    expect(index.catchUp()).toBe(true)
    index.close()
    ledger.close()
  },
)
