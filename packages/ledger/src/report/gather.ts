// Collects a report from the index of the ledger: what ran, what was refused and why, what was
// pending approval and who decided, which tools are new or have changed, which limits were
// exceeded. Aggregates by word numbers and resolves texts at the end, so that a week of millions of
// calls takes seconds.

import type { DatabaseSync } from 'node:sqlite'
import { SessionNames } from '../query/session-names.ts'
import { USUAL_WORDS } from '../records/files.ts'
import { REPORT_ROWS_MAX } from '../records/limits.ts'
import { gatherApprovals, listDefinitions, listEvents } from './gather-events.ts'
import type {
  LedgerReport,
  LimitRow,
  NewToolRow,
  PrincipalRow,
  RefusalReportRow,
  ReportSession,
  ShadowRow,
  Span,
  ToolRow,
  Totals,
} from './report.ts'
import { type ReportScope, Source } from './source.ts'

const SPANS = 42

export interface ReportDatabases {
  readonly ledger: DatabaseSync
  readonly index: DatabaseSync
}

export function gatherReport({ ledger, index }: ReportDatabases, scope: ReportScope): LedgerReport {
  const source = new Source(index, scope)
  const { waited, deciders } = gatherApprovals(source)
  return {
    ...scope,
    totals: sumTotals(source),
    spans: listSpans(source),
    tools: listTools(source),
    principals: listPrincipals(source),
    refused: listRefusals(source),
    waited,
    deciders,
    newTools: listNewTools(source),
    definitions: listDefinitions(source),
    limits: listLimits(source),
    sessions: listSessions(source, new SessionNames(ledger, index)),
    shadow: listShadow(source),
    events: listEvents(source),
  }
}

const REFUSED = `c.became <> ${USUAL_WORDS.action}`

function sumTotals(source: Source): Totals {
  const approvalWord = source.findWord('require_approval')
  const [rate, spend] = [source.findWord('RATE_LIMITED'), source.findWord('SPEND_LIMITED')]
  const [calls] = source.all(`SELECT count(*) AS calls, sum(${REFUSED}) AS refused,
    sum(c.became = ${approvalWord}) AS held, sum(c.code IN (${rate}, ${spend})) AS limited
    FROM calls c WHERE ${source.span}`)
  const outcomes = new Map(
    source
      .all(
        `SELECT o.status AS status, count(*) AS n FROM calls c JOIN outcomes o ON o.intent = c.seq
        WHERE ${source.span} GROUP BY o.status`,
      )
      .map(({ status, n }) => [source.text(status), Number(n)]),
  )
  const count = (name: string) => Number(calls?.[name] ?? 0)
  const became = (status: string) => outcomes.get(status) ?? 0
  return {
    calls: count('calls'),
    allowed: count('calls') - count('refused'),
    refused: count('refused') - count('held'),
    held: count('held'),
    limited: count('limited'),
    answered: became('answered'),
    failed: became('error') + became('gone') + became('cancelled'),
    unknown: became('unknown'),
  }
}

function listSpans(source: Source): Span[] {
  const { sinceMs, untilMs } = source.scope
  const widthMs = Math.max(1, Math.ceil((untilMs - sinceMs) / SPANS))
  const approvalWord = source.findWord('require_approval')
  const rows = source.all(`SELECT (c.at - ${sinceMs}) / ${widthMs} AS span, count(*) AS calls,
    sum(${REFUSED}) AS refused, sum(c.became = ${approvalWord}) AS held
    FROM calls c WHERE ${source.span} GROUP BY 1`)
  const bySpan = new Map(rows.map((row) => [Number(row.span), row]))
  return Array.from({ length: SPANS }, (_, at) => {
    const row = bySpan.get(at)
    const [calls, refused, waits] = ['calls', 'refused', 'held'].map((name) =>
      Number(row?.[name] ?? 0),
    )
    return {
      atMs: sinceMs + at * widthMs,
      allowed: (calls ?? 0) - (refused ?? 0),
      refused: (refused ?? 0) - (waits ?? 0),
      held: waits ?? 0,
    }
  })
}

const COUNT = 'count(*)'
const PEOPLE = 'count(DISTINCT c.principal)'
const LAST = 'max(c.at)'

function listTools(source: Source): ToolRow[] {
  const rows = source.group({
    words: { tool: 'c.tool' },
    figures: {
      calls: COUNT,
      refused: `sum(${REFUSED})`,
      failed: `sum(o.status IS NOT NULL AND o.status <> ${source.findWord('answered')})`,
      averageMs: 'avg(o.duration)',
      people: PEOPLE,
    },
    orderBy: 'calls',
    from: 'calls c LEFT JOIN outcomes o ON o.intent = c.seq',
  })
  return rows.map(({ averageMs, ...row }) => ({ ...row, averageMs: averageMs as number | null }))
}

function listPrincipals(source: Source): PrincipalRow[] {
  return source.group({
    words: { principal: 'c.principal' },
    figures: { calls: COUNT, refused: `sum(${REFUSED})`, tools: 'count(DISTINCT c.tool)' },
    orderBy: 'calls',
  })
}

function listRefusals(source: Source): RefusalReportRow[] {
  return source.group({
    words: { tool: 'c.tool', code: 'c.code', rule: 'c.rule', reason: 'c.reason' },
    figures: { count: COUNT, people: PEOPLE, lastMs: LAST },
    orderBy: 'count',
    where: REFUSED,
  })
}

function listLimits(source: Source): LimitRow[] {
  const codes = ['RATE_LIMITED', 'SPEND_LIMITED'].map((code) => source.findWord(code))
  return source.group({
    words: { rule: 'c.rule', code: 'c.code', principal: 'c.principal' },
    figures: { count: COUNT, lastMs: LAST },
    orderBy: 'count',
    where: `c.code <> ${USUAL_WORDS.code} AND c.code IN (${codes.join()})`,
  })
}

function listSessions(source: Source, names: SessionNames): ReportSession[] {
  const rows = source.group({
    words: { session: 'c.session', principal: 'min(c.principal)' },
    figures: { calls: COUNT, refused: `sum(${REFUSED})`, firstMs: 'min(c.at)' },
    orderBy: 'calls',
    by: 'c.session',
  })
  names.load(rows.map(({ session }) => session))
  return rows.map((row) => ({ ...row, name: names.nameOf(row.session) ?? '' }))
}

function listShadow(source: Source): ShadowRow[] {
  return source.group({
    words: { tool: 'c.tool', shadow: 'c.shadow', action: 'c.action' },
    figures: { count: COUNT, people: PEOPLE, lastMs: LAST },
    orderBy: 'count',
    where: `c.shadow <> ${USUAL_WORDS.shadow}`,
  })
}

/** Lists tools whose first call of all is one of the report; those called first show nothing new. */
function listNewTools(source: Source): NewToolRow[] {
  const rows = source.all(
    `SELECT c.tool AS tool, count(*) AS calls, min(c.at) AS firstMs FROM calls c WHERE ${source.span}
    GROUP BY c.tool HAVING min(c.seq) = (SELECT min(b.seq) FROM calls b WHERE b.tool = c.tool)
    AND (SELECT min(seq) FROM calls) < min(c.seq)
    ORDER BY firstMs LIMIT ${REPORT_ROWS_MAX}`,
  )
  return rows.map(({ tool, calls, firstMs }) => ({
    tool: source.text(tool),
    calls: Number(calls),
    firstMs: Number(firstMs),
  }))
}
