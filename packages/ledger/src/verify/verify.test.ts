// Tampering, one way after the other, with every record of a ledger of 200: each is found, and the
// first problem names the right record.

import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spread } from '../../../../test/support/runs.ts'
import { listRecordSpans } from '../chain/block.ts'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectoryForAll } from '../samples.test-support.ts'
import { verifyLedger, verifyTail } from './verify.ts'

const RECORDS = 200
const SEQS = spread(RECORDS)

interface Row {
  seq: number
  count: number
  at: number
  open: number
  /** Length, text and hash of each record, in order. */
  parts: Buffer[]
  previous: Buffer
}

let directory: string
let database: DatabaseSync
let original: Row[]

beforeAll(async () => {
  directory = freshDirectoryForAll()
  const ledger = Ledger.open({ directory })
  for (let at = 0, turn = 1; at < RECORDS; turn++) {
    const size = Math.min(RECORDS - at, [1, 3, 1, 12][turn % 4] as number)
    const group = Array.from({ length: size }, (_, n) => ledger.intent(decisionEntry(at + n)))
    await Promise.all(group)
    at += size
  }
  ledger.close()
  database = new DatabaseSync(join(directory, 'ledger.db'))
  database.exec('PRAGMA synchronous = OFF')
  original = database
    .prepare('SELECT * FROM blocks ORDER BY seq')
    .all()
    .map((row) => {
      const data = Buffer.from(row.data as Uint8Array)
      const parts = listRecordSpans(data).map(({ start, end }) =>
        data.subarray(start - 4, end + 32),
      )
      const { seq, count, at, open } = row as unknown as Row
      return { seq, count, at, open, parts, previous: data.subarray(0, 32) }
    })
})
afterAll(() => {
  database.close()
  rmSync(directory, { recursive: true })
})

/** Problems of the ledger after `change`, which works on a copy. */
function problemsAfter(change: (rows: Row[]) => Row[] | undefined) {
  const rows = original.map((row) => ({
    ...row,
    previous: Buffer.from(row.previous),
    parts: row.parts.map((part) => Buffer.from(part)),
  }))
  const changed = change(rows) ?? rows
  database.exec('BEGIN; DELETE FROM blocks')
  const insert = database.prepare('INSERT INTO blocks VALUES (?, ?, ?, ?, ?)')
  for (const { seq, count, at, open, previous, parts } of changed)
    insert.run(seq, count, at, open, Buffer.concat([previous, ...parts]))
  database.exec('COMMIT')
  return verifyLedger(database).problems
}

function locate(rows: Row[], seq: number): { row: Row; index: number; part: Buffer } {
  const row = rows.findLast((candidate) => candidate.seq <= seq) as Row
  const index = seq - row.seq
  return { row, index, part: row.parts[index] as Buffer }
}

const flip = (bytes: Buffer, at: number) => bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)

test('untouched it verifies, and names its head', () => {
  expect(problemsAfter(() => undefined)).toEqual([])
  const { records, head } = verifyLedger(database)
  expect({ records, seq: head.seq }).toEqual({ records: RECORDS, seq: RECORDS })
  expect(head.hash).toMatch(/^[0-9a-f]{64}$/)
})

describe('every record', () => {
  test.each([
    ['edited in the middle', (part: Buffer) => flip(part, part.length >> 1)],
    ['edited at its beginning', (part: Buffer) => flip(part, 4)],
    ['with another number', (part: Buffer) => flip(part, 7)],
    ['with another time', (part: Buffer) => flip(part, part.indexOf('1800000'))],
    ['with another hash', (part: Buffer) => flip(part, part.length - 1)],
    ['with another length', (part: Buffer) => flip(part, 3)],
    ['with a huge length', (part: Buffer) => flip(part, 0)],
  ])('%s', (_, edit) => {
    for (const seq of SEQS)
      expect(problemsAfter((rows) => void edit(locate(rows, seq).part))[0]?.seq).toBe(seq)
  })

  test('edited in the middle is one problem, not two', () => {
    for (const seq of SEQS) {
      const edit = (rows: Row[]) => flip(locate(rows, seq).part, 40)
      expect(problemsAfter((rows) => void edit(rows))).toHaveLength(1)
    }
  })

  test('edited and rehashed', () => {
    for (const seq of SEQS) {
      const problems = problemsAfter((rows) => {
        const { row, index, part } = locate(rows, seq)
        flip(part, part.length - 50)
        const before = index === 0 ? row.previous : (row.parts[index - 1] as Buffer).subarray(-32)
        const text = Buffer.concat([before, part.subarray(0, -32)])
        part.write(hash('sha256', text, 'binary'), part.length - 32, 'latin1')
        return undefined
      })
      // The record matches what precedes it; the next one, or the stored head, does not.
      expect([seq, seq + 1]).toContain(problems[0]?.seq)
    }
  })

  test.each([true, false])('removed (renumbered: %s)', (counted) => {
    for (const seq of SEQS) {
      const problems = problemsAfter((rows) => {
        const { row, index } = locate(rows, seq)
        row.parts.splice(index, 1)
        if (counted) row.count--
        return rows.filter(({ parts }) => parts.length > 0)
      })
      expect(problems[0]?.seq).toBe(seq)
    }
  })

  test('swapped with another', () => {
    for (const seq of SEQS) {
      const other = ((seq * 37) % RECORDS) + 1
      if (other === seq) continue
      const problems = problemsAfter((rows) => {
        const one = locate(rows, seq)
        const two = locate(rows, other)
        one.row.parts[one.index] = two.part
        two.row.parts[two.index] = one.part
        return undefined
      })
      expect(problems[0]?.seq).toBe(Math.min(seq, other))
    }
  })
})

describe('rows', () => {
  test.each(['count', 'at', 'seq'] as const)('with another `%s`', (column) => {
    for (const [index, { seq }] of original.entries()) {
      const problems = problemsAfter((rows) => {
        const row = rows[index] as Row
        row[column] += column === 'seq' ? 100_000 : 1
        return undefined
      })
      expect(problems[0]?.seq).toBe(seq)
    }
  })

  test('whose previous hash was edited', () => {
    for (const [index, { seq }] of original.entries())
      expect(
        problemsAfter((rows) => void flip((rows[index] as Row).previous, 0)).map((p) => p.seq),
      ).toEqual([seq])
  })

  test('removed, and in the place of another', () => {
    for (const [index, { seq }] of original.entries()) {
      const removed = problemsAfter((rows) => rows.filter((_, at) => at !== index))
      expect(removed[0]).toMatchObject({ seq, kind: 'missing' })
      if (index === 0) continue
      const moved = problemsAfter((rows) => {
        const [one, two] = [rows[index - 1] as Row, rows[index] as Row]
        const { parts, previous } = one
        Object.assign(one, { parts: two.parts, previous: two.previous })
        Object.assign(two, { parts, previous })
        return undefined
      })
      expect(moved[0]?.seq).toBe((original[index - 1] as Row).seq)
    }
  })

  test('all removed', () => {
    expect(problemsAfter(() => [])[0]).toMatchObject({ seq: 1, kind: 'missing' })
    expect(verifyTail(database)[0]).toMatchObject({ seq: 1, kind: 'missing' })
  })
})

test('a rewritten chain is found by a head that was stored on another host', () => {
  expect(problemsAfter(() => undefined)).toEqual([])
  const { head } = verifyLedger(database)
  expect(verifyLedger(database, { noted: [head] }).problems).toEqual([])
  const other = { seq: 100, hash: '00'.repeat(32) }
  expect(verifyLedger(database, { noted: [other] }).problems).toMatchObject([
    { seq: 100, kind: 'edited' },
  ])
  const later = { seq: RECORDS + 5, hash: head.hash }
  expect(verifyLedger(database, { noted: [later] }).problems).toMatchObject([
    { seq: 201, kind: 'missing' },
  ])
})

test('F7: `open` of a block cannot be moved after a call without an outcome', () => {
  expect(problemsAfter((rows) => rows)).toEqual([])
  for (const at of [0, 5, original.length - 1]) {
    const found = problemsAfter((rows) => {
      const row = rows[at] as Row
      row.open = row.seq + row.count
      return rows
    })
    expect(found).toMatchObject([{ seq: original[at]?.seq, kind: 'edited' }])
    expect(found[0]?.message).toContain('`open` is')
    // The same at a start: the call would never be marked unknown.
    expect(verifyTail(database)).toMatchObject([{ kind: 'edited' }])
  }
})
