// Calls that match a query, counted in intervals of time by outcome, and the names that calls have in
// one column, for suggestions. Exact as far as the index goes: one SQL each.

import type { DatabaseSync } from 'node:sqlite'
import { toOutcomeLabel } from '../../core/outcome-label.ts'
import { type CallSelection, type Query, selectCalls } from '../../ledger/query/query.ts'
import type { RecordIndex } from '../../ledger/query/record-index.ts'
import {
  HISTOGRAM_INTERVALS,
  SUGGESTED_NAMES_MAX,
  SUGGESTION_WORDS_MAX,
} from '../contract/console-limits.ts'
import type { CallHistogram } from '../contract/contract-overview.ts'

/** From the first to the last call that matches, unless the query has bounds. */
export function readHistogram(index: RecordIndex, query: Query): Omit<CallHistogram, 'behind'> {
  const { database } = index
  const selected = selectCalls(index, query)
  const span = selected && findSpan(database, selected)
  const sinceMs = query.sinceMs ?? span?.firstMs ?? 0
  // Exclusive here, inclusive in a query.
  const untilMs = (query.untilMs ?? span?.lastMs ?? sinceMs) + 1
  const intervalMs = Math.max(1, Math.ceil((untilMs - sinceMs) / HISTOGRAM_INTERVALS))
  const intervals =
    selected === undefined || span === undefined
      ? []
      : countIntervals(database, selected, { sinceMs, intervalMs })
  return { sinceMs, untilMs, intervalMs, intervals }
}

function findSpan(
  index: DatabaseSync,
  { found, where, values }: CallSelection,
): { readonly firstMs: number; readonly lastMs: number } | undefined {
  // One at a time: SQLite then reads an end of `calls_at` where nothing else is asked for.
  const find = (what: string) =>
    index.prepare(`${found} SELECT ${what}(calls.at) AS at FROM calls ${where}`).get(...values)?.at
  const [first, last] = [find('min'), find('max')]
  return first == null ? undefined : { firstMs: Number(first), lastMs: Number(last) }
}

/** Intervals without calls are left out. */
export function countIntervals(
  index: DatabaseSync,
  { found, where, values }: CallSelection,
  { sinceMs, intervalMs }: { readonly sinceMs: number; readonly intervalMs: number },
): CallHistogram['intervals'] {
  const rows = index
    .prepare(
      `${found} SELECT part, a.text AS action, c.text AS code, n FROM
        (SELECT (calls.at - ${Math.trunc(sinceMs)}) / ${Math.trunc(intervalMs)} AS part,
          action, code, count(*) AS n FROM calls ${where} GROUP BY 1, 2, 3)
        JOIN words a ON a.id = action JOIN words c ON c.id = code`,
    )
    .all(...values)
  const parts = new Map<number, Record<string, number>>()
  for (const { part, action, code, n } of rows) {
    const counts = parts.get(Number(part)) ?? {}
    const label = toOutcomeLabel(String(action), String(code))
    counts[label] = (counts[label] ?? 0) + Number(n)
    parts.set(Number(part), counts)
  }
  return [...parts]
    .sort(([one], [other]) => one - other)
    .map(([part, counts]) => ({ atMs: sinceMs + part * intervalMs, counts }))
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
