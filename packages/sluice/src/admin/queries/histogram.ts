// Calls that match a query, counted in intervals of time by outcome, and the names that calls have in
// one column, for suggestions. Exact as far as the index goes: one SQL each.

import type { DatabaseSync } from 'node:sqlite'
import { toOutcomeLabel } from '../../core/outcome-label.ts'
import { MINUTE_MS } from '../../ledger/query/call-counts.ts'
import { type CallSelection, type Query, selectCalls } from '../../ledger/query/query.ts'
import type { RecordIndex } from '../../ledger/query/record-index.ts'
import {
  HISTOGRAM_INTERVALS,
  SEARCHED_RECORDS_MAX,
  SUGGESTED_NAMES_MAX,
  SUGGESTION_WORDS_MAX,
} from '../contract/console-limits.ts'
import type { CallHistogram } from '../contract/contract-overview.ts'

/** From the first to the last call that matches, unless the query has bounds. */
export function readHistogram(index: RecordIndex, query: Query): Omit<CallHistogram, 'behind'> {
  const { database } = index
  const { sinceMs: from, untilMs: to, ...others } = query
  const isSearch = query.text !== undefined
  const isCounted = Object.keys(others).every((name) => COUNTED_CRITERIA.includes(name))
  const counted = isCounted ? others : query
  const selected = selectCalls(
    index,
    isSearch ? { ...query, after: findSearchStart(index) } : counted,
  )
  const span = selected && (isCounted ? findCountedSpan : findSpan)(database, selected)
  const sinceMs = from ?? span?.firstMs ?? 0
  // Exclusive here, inclusive in a query.
  const untilMs = (to ?? span?.lastMs ?? sinceMs) + 1
  const lengths = splitStretch(sinceMs, untilMs, HISTOGRAM_INTERVALS)
  const histogram = {
    sinceMs,
    untilMs,
    ...lengths,
    ...(isSearch ? { newest: SEARCHED_RECORDS_MAX } : {}),
  }
  if (selected === undefined || span === undefined) return { ...histogram, intervals: [] }
  const intervals = isCounted
    ? toIntervals(countStretch(database, selected, histogram), lengths)
    : countIntervals(database, selected, lengths)
  return { ...histogram, intervals }
}

/** A text is compared with the names of every call: only the newest are counted by it. */
function findSearchStart({ database }: RecordIndex): number {
  const last = database.prepare('SELECT max(seq) AS seq FROM calls').get()?.seq
  return Math.max(0, Number(last ?? 0) - SEARCHED_RECORDS_MAX)
}

/** What `minutes` has, beside the time. */
const COUNTED_CRITERIA: readonly string[] = ['action', 'code', 'denied', 'word']

/** Intervals of whole minutes that begin with one, so that counted minutes fill them; shorter ones
 * begin with the stretch. */
export function splitStretch(
  sinceMs: number,
  untilMs: number,
  intervalsMax: number,
): IntervalLengths {
  const intervalMs = Math.max(1, Math.ceil((untilMs - sinceMs) / intervalsMax))
  if (intervalMs < MINUTE_MS) return { startMs: sinceMs, intervalMs }
  // With one more minute: the first interval may begin before the stretch.
  const minutes = Math.ceil((untilMs - sinceMs + MINUTE_MS) / intervalsMax / MINUTE_MS)
  const startMs = Math.floor(sinceMs / MINUTE_MS) * MINUTE_MS
  return { startMs, intervalMs: minutes * MINUTE_MS }
}

interface CallSpan {
  readonly firstMs: number
  readonly lastMs: number
}

function findCountedSpan(
  index: DatabaseSync,
  { where, values }: CallSelection,
): CallSpan | undefined {
  // One by one: asked for in one SELECT, SQLite reads every row.
  const end = (which: string) => `(SELECT ${which}(minute) FROM minutes AS calls ${where})`
  const span = index
    .prepare(`SELECT ${end('min')} AS first, ${end('max')} AS last`)
    .get(...values, ...values)
  if (span?.first == null) return undefined
  return {
    firstMs: Number(span.first) * MINUTE_MS,
    lastMs: (Number(span.last) + 1) * MINUTE_MS - 1,
  }
}

/** By the first and the last record, which an index finds at once: the times of all would have to be read.
 * If the clock was set, calls outside of it are counted as well. */
function findSpan(
  index: DatabaseSync,
  { found, where, values }: CallSelection,
): CallSpan | undefined {
  const end = (order: 'ASC' | 'DESC') =>
    index
      .prepare(`${found} SELECT calls.at FROM calls ${where} ORDER BY calls.seq ${order} LIMIT 1`)
      .get(...values)?.at
  const [first, last] = [end('ASC'), end('DESC')]
  if (first === undefined || last === undefined) return undefined
  return { firstMs: Number(first), lastMs: Number(last) }
}

interface IntervalLengths {
  readonly startMs: number
  readonly intervalMs: number
}

/** Calls of one interval with one decision. */
export interface CountedRow {
  readonly part: number
  readonly action: string
  readonly code: string
  readonly n: number
}

/** Whole minutes by their counts, and the calls of the minutes at both ends one by one. */
export function countStretch(
  index: DatabaseSync,
  { where, values }: Pick<CallSelection, 'where' | 'values'>,
  {
    sinceMs,
    untilMs,
    startMs,
    intervalMs,
  }: IntervalLengths & { readonly sinceMs: number; readonly untilMs: number },
): CountedRow[] {
  const part = (at: string) => `(${at} - ${startMs}) / ${intervalMs}`
  const also = where === '' ? '' : `AND ${where.slice('WHERE '.length)}`
  const [first, end] = [Math.ceil(sinceMs / MINUTE_MS), Math.floor(untilMs / MINUTE_MS)]
  const calls = (from: number, to: number) =>
    `SELECT ${part('at')} AS part, action, code, 1 AS n FROM calls
      WHERE at >= ${from} AND at < ${to} ${also}`
  const parts =
    first >= end || intervalMs % MINUTE_MS !== 0
      ? [calls(sinceMs, untilMs)]
      : [
          calls(sinceMs, first * MINUTE_MS),
          `SELECT ${part(`minute * ${MINUTE_MS}`)} AS part, action, code, n FROM minutes AS calls
            WHERE minute >= ${first} AND minute < ${end} ${also}`,
          calls(end * MINUTE_MS, untilMs),
        ]
  const rows = index
    .prepare(
      `SELECT part, a.text AS action, c.text AS code, n FROM
        (SELECT part, action, code, sum(n) AS n FROM (${parts.join(' UNION ALL ')}) GROUP BY 1, 2, 3)
        JOIN words a ON a.id = action JOIN words c ON c.id = code`,
    )
    .all(...parts.flatMap(() => values))
  return rows as unknown as CountedRow[]
}

function countIntervals(
  index: DatabaseSync,
  { found, where, values }: CallSelection,
  { startMs, intervalMs }: IntervalLengths,
): CallHistogram['intervals'] {
  const rows = index
    .prepare(
      `${found} SELECT part, a.text AS action, c.text AS code, n FROM
        (SELECT (calls.at - ${startMs}) / ${intervalMs} AS part,
          action, code, count(*) AS n FROM calls ${where} GROUP BY 1, 2, 3)
        JOIN words a ON a.id = action JOIN words c ON c.id = code`,
    )
    .all(...values)
  return toIntervals(rows as unknown as CountedRow[], { startMs, intervalMs })
}

/** Intervals without calls are left out. */
export function toIntervals(
  rows: readonly CountedRow[],
  { startMs, intervalMs }: IntervalLengths,
): CallHistogram['intervals'] {
  const parts = new Map<number, Record<string, number>>()
  for (const { part, action, code, n } of rows) {
    const counts = parts.get(part) ?? {}
    const label = toOutcomeLabel(action, code)
    counts[label] = (counts[label] ?? 0) + n
    parts.set(part, counts)
  }
  return [...parts]
    .sort(([one], [other]) => one - other)
    .map(([part, counts]) => ({ atMs: startMs + part * intervalMs, counts }))
}

export const NAMED_COLUMNS = ['principal', 'agent', 'session', 'server', 'tool', 'code'] as const

export interface NamesRequest {
  readonly of: (typeof NAMED_COLUMNS)[number]
  /** Contained in each. */
  readonly text: string
}

/** Usual values are in no index of their column: the partial indexes need it said. */
const UNUSUAL: Readonly<Partial<Record<NamesRequest['of'], string>>> = {
  agent: 'AND agent <> 3',
  code: 'AND code <> 2',
}

/** Steps from one distinct value to the next by the index of the column: its rows are not read. */
export function readNames(index: DatabaseSync, { of, text }: NamesRequest): string[] {
  const next = (above: string) =>
    `(SELECT min(${of}) FROM calls WHERE ${of} > ${above} ${UNUSUAL[of] ?? ''})`
  return index
    .prepare(
      `WITH RECURSIVE used (word) AS (
        SELECT ${next('0')} UNION ALL SELECT ${next('word')} FROM used WHERE word IS NOT NULL
        LIMIT ${SUGGESTION_WORDS_MAX})
      SELECT text FROM used JOIN words ON id = word
        WHERE instr(lower(text), lower(?)) > 0 ORDER BY text LIMIT ${SUGGESTED_NAMES_MAX}`,
    )
    .all(text)
    .map((row) => String(row.text))
}
