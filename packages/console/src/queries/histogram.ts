// Calls that match a query, counted in intervals of time by outcome, and the names that calls have in
// one column, for suggestions. Exact as far as the index goes. A histogram over millions of calls is
// counted in parts, so that other questions are answered in between.

import type { DatabaseSync } from 'node:sqlite'
import { IS_COUNTED, MINUTE_MS } from '@sluice/ledger/query/call-counts'
import {
  type CallSelection,
  type Query,
  type RecordRange,
  selectCalls,
  selectRecords,
} from '@sluice/ledger/query/query'
import { PATHS } from '@sluice/ledger/query/sql-views'
import { type OutcomeLabel, toOutcomeLabel } from '@sluice/ledger/records/outcome-label'
import { TAGS, type Tag } from '@sluice/ledger/records/recorded-values'
import { createRowReader, NUMBER, TEXT } from '@sluice/ledger/store/read-row'
import type { Steps } from '@sluice/policy/structures/steps'
import {
  HISTOGRAM_INTERVALS,
  HISTOGRAM_STEP_MINUTES,
  HISTOGRAM_STEP_RECORDS,
  SEARCHED_RECORDS_MAX,
  SUGGESTED_NAMES_MAX,
  SUGGESTION_WORDS_MAX,
  VALUE_COLUMNS_MAX,
} from './limits.ts'
import type { TimeRange } from './time-range.ts'

export type OutcomeCounts = Partial<Readonly<Record<OutcomeLabel, number>>>

/** Calls that match the filters of `/api/ledger`, exact for the stretch that it names. */
export interface CountedCalls extends TimeRange, IntervalLengths {
  /** Those without calls are left out. */
  readonly intervals: readonly { readonly atMs: number; readonly counts: OutcomeCounts }[]
  /** Only calls among so many of the newest records are counted. */
  readonly newest?: number
}

/** How much is counted at once. */
export interface PartSizes {
  readonly records: number
  readonly minutes: number
}

const HISTOGRAM_STEP: PartSizes = {
  records: HISTOGRAM_STEP_RECORDS,
  minutes: HISTOGRAM_STEP_MINUTES,
}

/** From the first to the last call that matches, unless the query has bounds. Calls that are indexed
 * between two parts are counted with the last minutes, or not at all. */
export function* readHistogram(
  index: DatabaseSync,
  query: Query,
  step = HISTOGRAM_STEP,
): Steps<CountedCalls> {
  const { sinceMs: from, untilMs: to, ...others } = query
  const isSearch = query.text !== undefined
  const isCounted = Object.keys(others).every((name) => COUNTED_CRITERIA.includes(name))
  const counted = isCounted ? others : query
  const searchedFrom = isSearch ? findSearchStart(index) : 0
  const selected = selectCalls(index, isSearch ? { ...query, after: searchedFrom } : counted)
  yield
  const span =
    selected &&
    (isCounted ? findCountedSpan(index, selected) : yield* findSpan(index, selected, step.records))
  const sinceMs = from ?? span?.firstMs ?? 0
  // Exclusive here, inclusive in a query.
  const untilMs = (to ?? span?.lastMs ?? sinceMs) + 1
  const lengths = splitStretch(sinceMs, untilMs, HISTOGRAM_INTERVALS)
  const histogram = {
    sinceMs,
    untilMs,
    ...lengths,
    ...(isSearch && searchedFrom > 0 ? { newest: SEARCHED_RECORDS_MAX } : {}),
  }
  if (selected === undefined || span === undefined) return { ...histogram, intervals: [] }
  const rows: CountedRow[] = []
  if (span.range !== undefined)
    for (const range of splitRange(span.range, step.records)) {
      yield
      rows.push(...countCalls(index, selectRecords(selected, range), lengths))
    }
  else
    for (const stretch of splitByMinutes({ sinceMs, untilMs }, step.minutes)) {
      yield
      rows.push(...countStretch(index, selected, { ...stretch, ...lengths }))
    }
  return { ...histogram, intervals: toIntervals(rows, lengths) }
}

/** A text is compared with the names of every call: only the newest are counted by it. */
function findSearchStart(index: DatabaseSync): number {
  const last = index.prepare('SELECT max(seq) AS seq FROM calls').get()?.seq
  return Math.max(0, Number(last ?? 0) - SEARCHED_RECORDS_MAX)
}

/** What `minutes` has, beside the time. */
const COUNTED_CRITERIA: readonly string[] = ['code', 'word']

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

/** The first one ends with a minute, as do all but the last. */
function* splitByMinutes({ sinceMs, untilMs }: TimeRange, minutes: number): Generator<TimeRange> {
  for (let start = sinceMs; start < untilMs; ) {
    const end = Math.min(untilMs, (Math.floor(start / MINUTE_MS) + minutes) * MINUTE_MS)
    yield { sinceMs: start, untilMs: end }
    start = end
  }
}

export function* splitRange({ first, last }: RecordRange, records: number): Generator<RecordRange> {
  for (let start = first; start <= last; start += records)
    yield { first: start, last: Math.min(last, start + records - 1) }
}

interface CallSpan {
  readonly firstMs: number
  readonly lastMs: number
  /** Undefined for counts. */
  readonly range?: RecordRange
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

/** By the first and the last record: the times of all would have to be read. If the clock was set, calls
 * outside of it are counted as well. */
function* findSpan(
  index: DatabaseSync,
  selected: CallSelection,
  stepRecords: number,
): Steps<CallSpan | undefined> {
  // One by one: asked for in one SELECT, SQLite reads every row.
  const ends = index
    .prepare('SELECT (SELECT min(seq) FROM calls) AS first, (SELECT max(seq) FROM calls) AS last')
    .get()
  const first = Math.max(Number(ends?.first), selected.range.first)
  const last = Math.min(Number(ends?.last), selected.range.last)
  const parts = [...splitRange({ first, last }, stepRecords)]
  const oldest = yield* findCall(index, selected, { parts, order: 'ASC' })
  if (oldest === undefined) return undefined
  const newest = yield* findCall(index, selected, { parts: parts.reverse(), order: 'DESC' })
  if (newest === undefined) return undefined
  return {
    firstMs: oldest.at,
    lastMs: newest.at,
    range: { first: oldest.seq, last: newest.seq },
  }
}

interface FoundCall {
  readonly seq: number
  readonly at: number
}

const readFound = createRowReader<FoundCall>({ seq: NUMBER, at: NUMBER })

function* findCall(
  index: DatabaseSync,
  selected: CallSelection,
  { parts, order }: { readonly parts: readonly RecordRange[]; readonly order: 'ASC' | 'DESC' },
): Steps<FoundCall | undefined> {
  for (const part of parts) {
    const { found, from, seq, where, values } = selectRecords(selected, part)
    const call = index
      .prepare(
        `${found} SELECT ${seq} AS seq, at FROM ${from} ${where} ORDER BY ${seq} ${order} LIMIT 1`,
      )
      .get(...values)
    if (call !== undefined) return readFound(call)
    yield
  }
  return undefined
}

interface IntervalLengths {
  /** Where the first interval begins: with the stretch, or with its minute. */
  readonly startMs: number
  readonly intervalMs: number
}

/** Calls of one interval with one decision. */
export interface CountedRow {
  /** Counted from the beginning of time: before `startMs` a quotient would be rounded up. */
  readonly part: number
  readonly action: string
  readonly code: string
  readonly n: number
}

const readCounted = createRowReader<CountedRow>({
  part: NUMBER,
  action: TEXT,
  code: TEXT,
  n: NUMBER,
})

/** Whole minutes by their counts, and the calls of the minutes at both ends one by one. */
export function countStretch(
  index: DatabaseSync,
  { where, values }: Pick<CallSelection, 'where' | 'values'>,
  { sinceMs, untilMs, startMs, intervalMs }: IntervalLengths & TimeRange,
): CountedRow[] {
  const part = (at: string) => `(${at} - ${startMs % intervalMs}) / ${intervalMs}`
  const also = where === '' ? '' : `AND ${where.slice('WHERE '.length)}`
  const [first, end] = [Math.ceil(sinceMs / MINUTE_MS), Math.floor(untilMs / MINUTE_MS)]
  const calls = (from: number, to: number) =>
    `SELECT ${part('at')} AS part, became, code, 1 AS n FROM calls
      WHERE at >= ${from} AND at < ${to} AND ${IS_COUNTED} ${also}`
  const parts =
    first >= end || intervalMs % MINUTE_MS !== 0
      ? [calls(sinceMs, untilMs)]
      : [
          calls(sinceMs, first * MINUTE_MS),
          `SELECT ${part(`minute * ${MINUTE_MS}`)} AS part, became, code, n FROM minutes AS calls
            WHERE minute >= ${first} AND minute < ${end} ${also}`,
          calls(end * MINUTE_MS, untilMs),
        ]
  const rows = index
    .prepare(
      `SELECT part, a.text AS action, c.text AS code, n FROM
        (SELECT part, became, code, sum(n) AS n FROM (${parts.join(' UNION ALL ')}) GROUP BY 1, 2, 3)
        JOIN words a ON a.id = became JOIN words c ON c.id = code`,
    )
    .all(...parts.flatMap(() => values))
  return rows.map(readCounted)
}

function countCalls(
  index: DatabaseSync,
  { found, from, where, values }: CallSelection,
  { startMs, intervalMs }: IntervalLengths,
): CountedRow[] {
  const rows = index
    .prepare(
      `${found} SELECT part, a.text AS action, c.text AS code, n FROM
        (SELECT (calls.at - ${startMs % intervalMs}) / ${intervalMs} AS part,
          became, code, count(*) AS n FROM ${from} ${where === '' ? 'WHERE' : `${where} AND`} calls.${IS_COUNTED} GROUP BY 1, 2, 3)
        JOIN words a ON a.id = became JOIN words c ON c.id = code`,
    )
    .all(...values)
  return rows.map(readCounted)
}

/** Intervals without calls are left out. */
export function toIntervals(
  rows: readonly CountedRow[],
  { startMs, intervalMs }: IntervalLengths,
): CountedCalls['intervals'] {
  const parts = new Map<number, Record<string, number>>()
  for (const { part, action, code, n } of rows) {
    const counts = parts.get(part) ?? {}
    const label = toOutcomeLabel(action, code)
    counts[label] = (counts[label] ?? 0) + n
    parts.set(part, counts)
  }
  return [...parts]
    .sort(([one], [other]) => one - other)
    .map(([part, counts]) => ({ atMs: (startMs % intervalMs) + part * intervalMs, counts }))
}

export interface NamesRequest {
  /** `value`: paths of recorded arguments. */
  readonly of: 'principal' | 'agent' | 'session' | 'server' | 'tool' | 'code' | 'value' | Tag
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
  const prefix = of === 'value' ? 'args.' : TAGS.includes(of as Tag) ? `${of}:` : undefined
  if (prefix !== undefined)
    return index
      .prepare(
        `${PATHS} SELECT text FROM paths JOIN words ON id = path
          WHERE substr(text, 1, ${prefix.length}) = '${prefix}' AND instr(text, ?) > 0
          ORDER BY text LIMIT ${VALUE_COLUMNS_MAX}`,
      )
      .all(text)
      .map((row) => String(row.text).slice(of === 'value' ? 0 : prefix.length))
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
