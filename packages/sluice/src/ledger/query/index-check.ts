// Whether the query index agrees with the ledger. The index is an ordinary file: a row deleted or
// edited there would vanish from every query while the chain stays intact. A quick check before
// queries finds inconsistent sums; `ledger verify` derives every row again.

import { hash, randomInt } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { asBuffer } from '../../store/as-buffer.ts'
import { readBase } from '../chain/base.ts'
import { listRecordSpans, recordText } from '../chain/block.ts'
import { blocksFrom, hashAt, readHead, recordReader } from '../chain/read.ts'
import { decode } from '../records/decoding.ts'
import { indexFile } from '../records/files.ts'
import {
  INDEX_COMPARED_RECORDS,
  INDEX_SEGMENT_RECORDS,
  PROBLEMS_MAX,
  REMEMBERED_WORDS_MAX,
} from '../records/limits.ts'
import type { LedgerRecord } from '../records/record.ts'
import { COUNTS_SUM, WRONG_COUNTS } from './call-counts.ts'
import { type IndexRow, TABLE_SUMS, toIndexRow } from './index-rows.ts'

export interface IndexDifference {
  readonly seq: number
  readonly message: string
}

const TABLES = ['calls', 'outcomes', 'events'] as const
const KEYS = { calls: 'seq', outcomes: 'intent', events: 'seq' } as const

/**
 * The first inconsistency, undefined if there is none. Bounded: schema, sums over all rows, and a
 * comparison with the chain for a limited number of records, or all of them if there are fewer.
 */
export function findIndexFault(index: DatabaseSync, ledger: DatabaseSync): string | undefined {
  const schema = faultOfSchema(index)
  if (schema !== undefined) return schema
  const span = findSpan(index, ledger)
  if (span === undefined) return undefined
  for (const table of TABLES) if (!addsUp(index, table)) return `rows of \`${table}\` were changed`
  if (!countsAddUp(index)) return 'its counts were changed'
  if (hashOfWords(index) !== index.prepare('SELECT words FROM tally').get()?.words)
    return 'its words were changed'
  for (const segment of pickSegments(span)) {
    const [first] = compareSpan(index, ledger, segment)
    if (first !== undefined) return first.message
  }
  return undefined
}

/** Compares the whole index with the chain. Linear, one block at a time. */
export function compareIndex(index: DatabaseSync, ledger: DatabaseSync): IndexDifference[] {
  const schema = faultOfSchema(index)
  if (schema !== undefined) return [{ seq: 0, message: `the index of queries: ${schema}` }]
  const span = findSpan(index, ledger)
  if (span === undefined) return []
  const broken = index.prepare('PRAGMA integrity_check(1)').get()?.integrity_check
  if (broken !== 'ok')
    return [{ seq: 0, message: `the index of queries is broken: ${String(broken)}` }]
  return compareSpan(index, ledger, { ...span, isWhole: true })
}

/** The schema is part of the file: a trigger, or a view instead of a table, could hide rows. */
function faultOfSchema(index: DatabaseSync): string | undefined {
  const read = (database: DatabaseSync): string =>
    JSON.stringify(
      database
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql <> '' ORDER BY type, name")
        .all(),
    )
  const own = new DatabaseSync(':memory:')
  try {
    for (const step of indexFile('').migrations) if (typeof step === 'string') own.exec(step)
    return read(own) === read(index) ? undefined : 'its tables are not those that Sluice makes'
  } finally {
    own.close()
  }
}

/**
 * The records that the index should have; undefined if it has none, or those of another ledger, for
 * which it is rebuilt.
 */
function findSpan(index: DatabaseSync, ledger: DatabaseSync): Span | undefined {
  const row = index.prepare('SELECT seq, hash FROM through').get()
  if (row === undefined) return undefined
  const known = asBuffer(row.hash as Uint8Array).toString('latin1')
  if (hashAt(ledger, Number(row.seq)) !== known) return undefined
  const oldest = readBase(ledger).seq + 1
  const to = Math.min(Number(row.seq), readHead(ledger).seq)
  return { oldest, from: oldest, to, isWhole: false }
}

interface Span {
  /** The first record that the ledger still has. */
  readonly oldest: number
  readonly from: number
  readonly to: number
  /** All records, so that rows without a record can be counted too. */
  readonly isWhole: boolean
}

/** All if that is cheap; otherwise the newest, and others at random. */
function pickSegments(span: Span): Span[] {
  const { oldest, to } = span
  if (to - oldest < INDEX_COMPARED_RECORDS) return [{ ...span, isWhole: true }]
  const newest = to - INDEX_COMPARED_RECORDS / 2
  const others = INDEX_COMPARED_RECORDS / 2 / INDEX_SEGMENT_RECORDS
  const starts = Array.from({ length: others }, () => randomInt(oldest, newest))
  return [
    { ...span, from: newest },
    ...starts.map((from) => ({ ...span, from, to: from + INDEX_SEGMENT_RECORDS - 1 })),
  ]
}

function compareSpan(
  index: DatabaseSync,
  ledger: DatabaseSync,
  { oldest, from, to, isWhole }: Span,
): IndexDifference[] {
  const differences: IndexDifference[] = []
  const rows = new IndexedRows(index)
  const read = recordReader(ledger)
  const counts = { calls: 0, outcomes: 0, events: 0 }
  const report = (seq: number, message: string) => {
    if (differences.length < PROBLEMS_MAX) differences.push({ seq, message })
  }
  const compare = (record: LedgerRecord): void => {
    const row = toIndexRow(record)
    const isOutcome = record.kind === 'outcome'
    // Retention may have dropped the call, and its outcome with it.
    if (isOutcome && record.intent < oldest) return
    const stored = rows.get(row.table, row.before[0] as number)
    if (stored === toText(row)) {
      counts[row.table]++
      return
    }
    // Of two outcomes of one call the first is stored.
    const first = isOutcome ? rows.outcomeOf(record.intent) : undefined
    const earlier = first !== undefined && first < record.seq ? read(first) : undefined
    const isSecond =
      isOutcome &&
      earlier?.kind === 'outcome' &&
      earlier.intent === record.intent &&
      toText(toIndexRow(earlier)) === stored
    if (isSecond) return
    const what = stored === undefined ? 'is missing in' : 'is not the same in'
    report(record.seq, `record ${record.seq} ${what} the index of queries`)
  }
  for (const { seq, data } of blocksFrom(ledger, from)) {
    if (seq > to) break
    for (const place of listRecordSpans(data)) {
      const record = decode(recordText(data, place))
      if (record.seq >= from && record.seq <= to) compare(record)
    }
  }
  if (isWhole && differences.length === 0 && Number(index.prepare(WRONG_COUNTS).get()?.n) > 0)
    report(to, 'counts in the index of queries are not those of its calls')
  for (const table of TABLES) {
    if (table === 'outcomes' && !isWhole) continue
    const key = KEYS[table]
    const limit = isWhole ? '' : `AND ${key} <= ${to}`
    const sql = `SELECT count(*) AS rows FROM ${table} WHERE ${key} >= ${from} ${limit}`
    const beyond = Number(index.prepare(sql).get()?.rows) - counts[table]
    if (beyond > 0 && differences.length === 0)
      report(to, `the index of queries has rows of \`${table}\` that no record has: ${beyond}`)
  }
  return differences
}

function toText({ before, words, after }: IndexRow): string {
  return JSON.stringify([...before, ...words, ...after])
}

const WORDS_AT: Readonly<Record<IndexRow['table'], readonly [number, number]>> = {
  calls: [2, 15],
  outcomes: [2, 3],
  events: [2, 3],
}

/** Rows of the index with their texts resolved. */
class IndexedRows {
  readonly #rows: Readonly<Record<IndexRow['table'], ReturnType<DatabaseSync['prepare']>>>
  readonly #word: ReturnType<DatabaseSync['prepare']>
  readonly #words = new Map<number, string | null>()

  constructor(index: DatabaseSync) {
    const prepare = (table: IndexRow['table']) => {
      const statement = index.prepare(`SELECT * FROM ${table} WHERE ${KEYS[table]} = ?`)
      statement.setReturnArrays(true)
      return statement
    }
    const [calls, outcomes, events] = TABLES.map(prepare) as [never, never, never]
    this.#rows = { calls, outcomes, events }
    this.#word = index.prepare('SELECT text FROM words WHERE id = ?')
  }

  get(table: IndexRow['table'], key: number): string | undefined {
    const values = this.#rows[table].get(key) as unknown as unknown[] | undefined
    if (values === undefined) return undefined
    const [first, end] = WORDS_AT[table]
    return JSON.stringify(
      values.map((value, at) => (at >= first && at < end ? this.#textOf(Number(value)) : value)),
    )
  }

  #textOf(id: number): string | null {
    let text = this.#words.get(id)
    if (text !== undefined) return text
    text = (this.#word.get(id)?.text as string | undefined) ?? null
    if (this.#words.size >= REMEMBERED_WORDS_MAX) this.#words.clear()
    this.#words.set(id, text)
    return text
  }

  outcomeOf(intent: number): number | undefined {
    const values = this.#rows.outcomes.get(intent) as unknown as unknown[] | undefined
    return values && Number(values[1])
  }
}

/** Over the rows up to a key, as an SQL expression. */
export function sumUpTo(table: IndexRow['table'], through: number): string {
  const sum = `coalesce(sum(${TABLE_SUMS[table]}), 0)`
  return `(SELECT ${sum} FROM ${table} WHERE ${KEYS[table]} <= ${through})`
}

/** Compared in SQL: the sums exceed the exact range of a double. */
function addsUp(index: DatabaseSync, table: IndexRow['table']): boolean {
  const sum = sumUpTo(table, Number.MAX_SAFE_INTEGER)
  return index.prepare(`SELECT ${sum} = (SELECT ${table} FROM tally) AS fits`).get()?.fits === 1
}

function countsAddUp(index: DatabaseSync): boolean {
  return index.prepare(`SELECT ${COUNTS_SUM} = counts AS fits FROM tally`).get()?.fits === 1
}

export function hashWord(before: string, id: number, text: string): string {
  return hash('sha256', `${before}${id}:${text}`, 'base64url')
}

function hashOfWords(index: DatabaseSync): string {
  let digest = ''
  for (const { id, text } of index.prepare('SELECT id, text FROM words ORDER BY id').iterate())
    if (Number(id) > USUAL_LAST) digest = hashWord(digest, Number(id), String(text))
  return digest
}

/** Those that the schema itself inserts. */
const USUAL_LAST = 3
