// Figures of a stretch of time for the overview: calls by outcome, in intervals and in all, beside the
// stretch before it, and by reason, principal, agent and tool. Exact: whole minutes
// and hours by the counts of the index, what is left at both ends by its calls.

import type { DatabaseSync } from 'node:sqlite'
import { toOutcomeLabel } from '../../core/outcome-label.ts'
import {
  COUNTED_KINDS,
  type CountedColumn,
  HOUR_MS,
  MINUTE_MS,
} from '../../ledger/query/call-counts.ts'
import { USUAL_WORDS } from '../../ledger/records/files.ts'
import { OVERVIEW_INTERVALS, OVERVIEW_TOP } from '../contract/console-limits.ts'
import type { CountedName, OutcomeCounts, Overview } from '../contract/contract-overview.ts'
import { type CountedRow, countStretch, splitStretch, toIntervals } from './histogram.ts'

export interface OverviewRequest {
  readonly sinceMs: number
  readonly untilMs: number
}

export function readOverview(
  index: DatabaseSync,
  { sinceMs, untilMs }: OverviewRequest,
): Omit<Overview, 'behind'> {
  const lengthMs = Math.max(1, untilMs - sinceMs)
  const lengths = splitStretch(sinceMs, untilMs, OVERVIEW_INTERVALS)
  const rows = countStretch(index, EVERYTHING, { sinceMs, untilMs, ...lengths })
  const earlier = { sinceMs: sinceMs - lengthMs, untilMs: sinceMs }
  return {
    sinceMs,
    untilMs,
    ...lengths,
    intervals: toIntervals(rows, lengths),
    totals: sumOutcomes(rows),
    before: sumOutcomes(countStretch(index, EVERYTHING, { ...earlier, ...toOne(earlier) })),
    recordsSinceMs: findFirst(index),
    reasons: sumReasons(rows),
    principals: countNames(index, 'principal', { sinceMs, untilMs }),
    agents: countNames(index, 'agent', { sinceMs, untilMs }),
    tools: countNames(index, 'tool', { sinceMs, untilMs }),
  }
}

function findFirst(index: DatabaseSync): number | null {
  const minute = index.prepare('SELECT min(minute) AS minute FROM minutes').get()?.minute
  return minute == null ? null : Number(minute) * MINUTE_MS
}

const EVERYTHING = { where: '', values: [] } as const

/** One interval that is longer than the stretch. */
function toOne({ sinceMs, untilMs }: OverviewRequest): {
  readonly startMs: number
  readonly intervalMs: number
} {
  const startMs = Math.floor(sinceMs / MINUTE_MS) * MINUTE_MS
  return { startMs, intervalMs: (Math.ceil((untilMs - startMs) / MINUTE_MS) + 1) * MINUTE_MS }
}

function sumOutcomes(rows: readonly CountedRow[]): OutcomeCounts {
  const counts: Record<string, number> = {}
  for (const { action, code, n } of rows) {
    const label = toOutcomeLabel(action, code)
    counts[label] = (counts[label] ?? 0) + n
  }
  return counts
}

/** Codes of calls that did not pass. */
function sumReasons(rows: readonly CountedRow[]): CountedName[] {
  const codes = new Map<string, number>()
  for (const { action, code, n } of rows)
    if (action !== 'allow') codes.set(code, (codes.get(code) ?? 0) + n)
  return [...codes]
    .map(([name, calls]) => ({ name, calls, refused: calls }))
    .sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1))
    .slice(0, OVERVIEW_TOP)
}

/** The most frequent, each with how many of its calls did not pass: whole hours by their counts, the
 * calls at both ends one by one. */
function countNames(
  index: DatabaseSync,
  column: CountedColumn,
  { sinceMs, untilMs }: OverviewRequest,
): CountedName[] {
  const [first, end] = [Math.ceil(sinceMs / HOUR_MS), Math.floor(untilMs / HOUR_MS)]
  const calls = (from: number, to: number) =>
    `SELECT ${column} AS word, 1 AS n, action <> ${USUAL_WORDS.action} AS refused FROM calls
      WHERE at >= ${from} AND at < ${to} ${column === 'agent' ? `AND +agent <> ${USUAL_WORDS.agent}` : ''}`
  const parts =
    first >= end
      ? [calls(sinceMs, untilMs)]
      : [
          calls(sinceMs, first * HOUR_MS),
          `SELECT word, n, refused FROM hours
            WHERE kind = ${COUNTED_KINDS[column]} AND hour >= ${first} AND hour < ${end}`,
          calls(end * HOUR_MS, untilMs),
        ]
  return index
    .prepare(
      `SELECT w.text AS name, n, refused FROM
        (SELECT word, sum(n) AS n, sum(refused) AS refused FROM (${parts.join(' UNION ALL ')})
          GROUP BY 1)
        JOIN words w ON w.id = word ORDER BY n DESC, w.text LIMIT ${OVERVIEW_TOP}`,
    )
    .all()
    .map(({ name, n, refused }) => ({
      name: String(name),
      calls: Number(n),
      refused: Number(refused),
    }))
}
