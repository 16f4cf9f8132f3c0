// Figures of a stretch of time for the overview: calls by outcome, in intervals and in all, beside the
// stretch before it, and by reason, principal, agent and tool. Exact: counted over the index, by SQL.

import type { DatabaseSync } from 'node:sqlite'
import { OVERVIEW_INTERVALS, OVERVIEW_TOP } from '../contract/console-limits.ts'
import type { CountedName, OutcomeCounts, Overview } from '../contract/contract-overview.ts'
import { countIntervals } from './histogram.ts'

export interface OverviewRequest {
  readonly sinceMs: number
  readonly untilMs: number
}

export function readOverview(
  index: DatabaseSync,
  { sinceMs, untilMs }: OverviewRequest,
): Omit<Overview, 'behind'> {
  const lengthMs = Math.max(1, untilMs - sinceMs)
  const intervalMs = Math.max(1, Math.ceil(lengthMs / OVERVIEW_INTERVALS))
  return {
    sinceMs,
    untilMs,
    intervalMs,
    intervals: countIntervals(
      index,
      { found: '', where: 'WHERE at >= ? AND at < ?', values: [sinceMs, untilMs] },
      { sinceMs, intervalMs },
    ),
    totals: countOutcomes(index, { sinceMs, untilMs }),
    before: countOutcomes(index, { sinceMs: sinceMs - lengthMs, untilMs: sinceMs }),
    reasons: countNames(index, 'code', { sinceMs, untilMs }, 'AND action <> 1'),
    principals: countNames(index, 'principal', { sinceMs, untilMs }),
    agents: countNames(index, 'agent', { sinceMs, untilMs }, 'AND agent <> 3'),
    tools: countNames(index, 'tool', { sinceMs, untilMs }),
  }
}

function countOutcomes(index: DatabaseSync, { sinceMs, untilMs }: OverviewRequest): OutcomeCounts {
  const [all] = countIntervals(
    index,
    { found: '', where: 'WHERE at >= ? AND at < ?', values: [sinceMs, untilMs] },
    { sinceMs, intervalMs: Math.max(1, untilMs - sinceMs) },
  )
  return all?.counts ?? {}
}

/** The most frequent, each with how many of its calls did not pass. */
function countNames(
  index: DatabaseSync,
  column: 'code' | 'principal' | 'agent' | 'tool',
  { sinceMs, untilMs }: OverviewRequest,
  and = '',
): CountedName[] {
  return index
    .prepare(
      `SELECT w.text AS name, n, refused FROM
        (SELECT ${column} AS word, count(*) AS n, sum(action <> 1) AS refused FROM calls
          WHERE at >= ? AND at < ? ${and} GROUP BY 1 ORDER BY n DESC, word LIMIT ${OVERVIEW_TOP})
        JOIN words w ON w.id = word ORDER BY n DESC, w.text`,
    )
    .all(sinceMs, untilMs)
    .map(({ name, n, refused }) => ({
      name: String(name),
      calls: Number(n),
      refused: Number(refused),
    }))
}
