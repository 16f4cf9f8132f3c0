// Figures of a stretch of time for the overview: calls by outcome, in intervals and in all, beside the
// stretch before it, and by reason, principal, agent, tool and server. Exact: whole minutes
// and hours by the counts of the index, what is left at both ends by its calls.

import type { DatabaseSync } from 'node:sqlite'
import {
  COUNTED_KINDS,
  type CountedColumn,
  HOUR_MS,
  IS_COUNTED,
  MINUTE_MS,
} from '@sluice/ledger/query/call-counts'
import { USUAL_WORDS } from '@sluice/ledger/records/files'
import { toOutcomeLabel } from '@sluice/ledger/records/outcome-label'
import { QUIET_EVENT, STANDING_END } from '@sluice/ledger/records/record'
import { createRowReader, NUMBER, TEXT } from '@sluice/ledger/store/read-row'
import {
  type CountedCalls,
  type CountedRow,
  countStretch,
  type OutcomeCounts,
  splitStretch,
  toIntervals,
} from './histogram.ts'
import { OVERVIEW_INTERVALS, OVERVIEW_TOP } from './limits.ts'
import { getPeriodBefore, type TimeRange } from './time-range.ts'

/** A principal, an agent, a tool, a server or a reason, with its calls. */
export interface CountedName {
  readonly name: string
  readonly calls: number
  readonly counts: OutcomeCounts
}

/** Questions that were answered without a person. */
export interface SparedQuestions {
  /** The question of a coding agent to its user: the call reads what the policy allows, or an approver had approved it. */
  readonly quiet: number
  /** The same, for a line that ran in the box of its session. */
  readonly box: number
  /** The call passed by a standing approval. */
  readonly standing: number
}

export interface OverviewRequest extends TimeRange {
  /** How many names each list has at most. */
  readonly top?: number | undefined
}

/** The figures of a stretch of time. */
export interface OverviewFigures extends CountedCalls {
  readonly totals: OutcomeCounts
  /** The sums of the stretch of the same length before this one. */
  readonly before: OutcomeCounts
  /** Questions of the stretch that no person was asked. */
  readonly spared: SparedQuestions
  /** The minute of the first recorded call, before which nothing is known; null if there is none. */
  readonly recordsSinceMs: number | null
  /** Codes of calls that were held or not allowed. */
  readonly reasons: readonly CountedName[]
  readonly principals: readonly CountedName[]
  readonly agents: readonly CountedName[]
  readonly tools: readonly CountedName[]
  readonly servers: readonly CountedName[]
}

export function readOverview(
  index: DatabaseSync,
  { sinceMs, untilMs, top }: OverviewRequest,
): OverviewFigures {
  const lengths = splitStretch(sinceMs, untilMs, OVERVIEW_INTERVALS)
  const rows = countStretch(index, EVERYTHING, { sinceMs, untilMs, ...lengths })
  const earlier = getPeriodBefore({ sinceMs, untilMs })
  return {
    sinceMs,
    untilMs,
    ...lengths,
    intervals: toIntervals(rows, lengths),
    totals: sumOutcomes(rows),
    before: sumOutcomes(countStretch(index, EVERYTHING, { ...earlier, ...toOne(earlier) })),
    spared: countSpared(index, { sinceMs, untilMs }),
    recordsSinceMs: findFirst(index),
    reasons: sumReasons(rows),
    principals: countNames(index, 'principal', { sinceMs, untilMs }),
    agents: countNames(index, 'agent', { sinceMs, untilMs }),
    tools: countNames(index, 'tool', { sinceMs, untilMs }, top),
    servers: countServers(index, { sinceMs, untilMs }),
  }
}

const readSpared = createRowReader<SparedQuestions>({
  quiet: NUMBER,
  box: NUMBER,
  standing: NUMBER,
})

function countSpared(index: DatabaseSync, { sinceMs, untilMs }: TimeRange): SparedQuestions {
  const [first, end] = [Math.ceil(sinceMs), Math.ceil(untilMs)]
  const answered = index
    .prepare(
      `SELECT count(*) FILTER (WHERE detail ->> 'why' <> 'box') AS quiet,
        count(*) FILTER (WHERE detail ->> 'why' = 'box') AS box
        FROM words JOIN events ON name = id WHERE text = '${QUIET_EVENT}' AND at >= ? AND at < ?`,
    )
    .get(first, end)
  const row = index
    .prepare(
      `SELECT count(*) AS n FROM words w JOIN calls c ON c.code = w.id AND c.code <> ${USUAL_WORDS.code}
        JOIN words a ON a.id = c.approval
        WHERE w.text = 'APPROVED' AND at >= ? AND at < ? AND a.text LIKE '%${STANDING_END}'`,
    )
    .get(first, end)
  return readSpared({ ...answered, standing: row?.n })
}

function findFirst(index: DatabaseSync): number | null {
  const minute = index.prepare('SELECT min(minute) AS minute FROM minutes').get()?.minute
  return minute == null ? null : Number(minute) * MINUTE_MS
}

const EVERYTHING = { where: '', values: [] } as const

/** One interval that is longer than the stretch. */
function toOne({ sinceMs, untilMs }: TimeRange): {
  readonly startMs: number
  readonly intervalMs: number
} {
  const startMs = Math.floor(sinceMs / MINUTE_MS) * MINUTE_MS
  return { startMs, intervalMs: (Math.ceil((untilMs - startMs) / MINUTE_MS) + 1) * MINUTE_MS }
}

function sumOutcomes(rows: readonly Pick<CountedRow, 'action' | 'code' | 'n'>[]): OutcomeCounts {
  const counts: Record<string, number> = {}
  for (const { action, code, n } of rows) {
    const label = toOutcomeLabel(action, code)
    counts[label] = (counts[label] ?? 0) + n
  }
  return counts
}

/** Codes of calls that were held or not allowed. */
function sumReasons(rows: readonly CountedRow[]): CountedName[] {
  const reasons = rows.filter(({ action }) => action !== 'allow')
  return toNames(reasons.map((row) => ({ ...row, name: row.code })))
    .sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1))
    .slice(0, OVERVIEW_TOP)
}

interface NamedRow extends Pick<CountedRow, 'action' | 'code' | 'n'> {
  readonly name: string
}

const readNamed = createRowReader<NamedRow>({ name: TEXT, action: TEXT, code: TEXT, n: NUMBER })

/** In the order of their first rows. */
function toNames(rows: readonly NamedRow[]): CountedName[] {
  const named = new Map<string, NamedRow[]>()
  for (const row of rows) named.set(row.name, [...(named.get(row.name) ?? []), row])
  return [...named].map(([name, own]) => ({
    name,
    calls: own.reduce((sum, { n }) => sum + n, 0),
    counts: sumOutcomes(own),
  }))
}

/** SQL that counts calls by outcome: whole hours by their counts, the calls at both ends one by one. */
function countWords(column: CountedColumn, { sinceMs, untilMs }: TimeRange): string {
  const [first, end] = [Math.ceil(sinceMs / HOUR_MS), Math.floor(untilMs / HOUR_MS)]
  const calls = (from: number, to: number) =>
    `SELECT ${column} AS word, became, code, 1 AS n FROM calls
      WHERE at >= ${from} AND at < ${to} AND ${IS_COUNTED} ${column === 'agent' ? `AND +agent <> ${USUAL_WORDS.agent}` : ''}`
  const parts =
    first >= end
      ? [calls(sinceMs, untilMs)]
      : [
          calls(sinceMs, first * HOUR_MS),
          `SELECT word, became, code, n FROM hours
            WHERE kind = ${COUNTED_KINDS[column]} AND hour >= ${first} AND hour < ${end}`,
          calls(end * HOUR_MS, untilMs),
        ]
  return `SELECT word, became, code, sum(n) AS n FROM (${parts.join(' UNION ALL ')}) GROUP BY 1, 2, 3`
}

/** The most frequent, by outcome. */
function countNames(
  index: DatabaseSync,
  column: CountedColumn,
  range: TimeRange,
  top = OVERVIEW_TOP,
): CountedName[] {
  const rows = index
    .prepare(
      `WITH counted AS MATERIALIZED (${countWords(column, range)}),
      top AS MATERIALIZED
        (SELECT word, w.text AS name, sum(n) AS calls FROM counted JOIN words w ON w.id = word
          GROUP BY 1 ORDER BY calls DESC, name LIMIT ${top})
      SELECT name, a.text AS action, c.text AS code, n FROM top JOIN counted USING (word)
        JOIN words a ON a.id = became JOIN words c ON c.id = code ORDER BY calls DESC, name`,
    )
    .all()
  return toNames(rows.map(readNamed))
}

/** All of them, by outcome: a tool is counted under the name of its server and its own. */
function countServers(index: DatabaseSync, range: TimeRange): CountedName[] {
  const rows = index
    .prepare(
      `SELECT substr(w.text, 1, instr(w.text, '/') - 1) AS name, a.text AS action, c.text AS code,
        sum(n) AS n FROM (${countWords('tool', range)}) JOIN words w ON w.id = word
        JOIN words a ON a.id = became JOIN words c ON c.id = code GROUP BY 1, 2, 3`,
    )
    .all()
  return toNames(rows.map(readNamed))
}
