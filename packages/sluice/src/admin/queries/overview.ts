// Figures of a stretch of time for the overview: calls by outcome, in intervals and in all, beside the
// stretch before it, and by reason, principal, agent and tool. Exact: counted over the index, by SQL.

import type { DatabaseSync } from 'node:sqlite'
import { OVERVIEW_INTERVALS, OVERVIEW_TOP } from '../contract/console-limits.ts'
import type { CountedName, OutcomeCounts, Overview } from '../contract/contract-overview.ts'
import { toOutcomeLabel } from '../contract/outcome-label.ts'

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
    intervals: countIntervals(index, { sinceMs, untilMs, intervalMs }),
    totals: countOutcomes(index, { sinceMs, untilMs }),
    before: countOutcomes(index, { sinceMs: sinceMs - lengthMs, untilMs: sinceMs }),
    reasons: countNames(index, 'code', { sinceMs, untilMs }, 'AND action <> 1'),
    principals: countNames(index, 'principal', { sinceMs, untilMs }),
    agents: countNames(index, 'agent', { sinceMs, untilMs }, 'AND agent <> 3'),
    tools: countNames(index, 'tool', { sinceMs, untilMs }),
  }
}

const LABELLED = 'JOIN words a ON a.id = action JOIN words c ON c.id = code'

function countOutcomes(index: DatabaseSync, { sinceMs, untilMs }: OverviewRequest): OutcomeCounts {
  const rows = index
    .prepare(
      `SELECT a.text AS action, c.text AS code, n FROM
        (SELECT action, code, count(*) AS n FROM calls WHERE at >= ? AND at < ? GROUP BY 1, 2)
        ${LABELLED}`,
    )
    .all(sinceMs, untilMs)
  const counts: Record<string, number> = {}
  for (const { action, code, n } of rows) {
    const label = toOutcomeLabel(String(action), String(code))
    counts[label] = (counts[label] ?? 0) + Number(n)
  }
  return counts
}

function countIntervals(
  index: DatabaseSync,
  { sinceMs, untilMs, intervalMs }: OverviewRequest & { readonly intervalMs: number },
): Overview['intervals'] {
  const rows = index
    .prepare(
      `SELECT part, a.text AS action, c.text AS code, n FROM
        (SELECT CAST((at - ?) / ? AS INTEGER) AS part, action, code, count(*) AS n FROM calls
          WHERE at >= ? AND at < ? GROUP BY 1, 2, 3)
        ${LABELLED}`,
    )
    .all(sinceMs, intervalMs, sinceMs, untilMs)
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
