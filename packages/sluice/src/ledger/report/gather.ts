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

const REFUSED = `c.action <> ${USUAL_WORDS.action}`

function sumTotals(source: Source): Totals {
  const approvalWord = source.findWord('require_approval')
  const [rate, spend] = [source.findWord('RATE_LIMITED'), source.findWord('SPEND_LIMITED')]
  const [calls] = source.all(`SELECT count(*) AS calls, sum(${REFUSED}) AS refused,
    sum(c.action = ${approvalWord}) AS held, sum(c.code IN (${rate}, ${spend})) AS limited
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
    sum(${REFUSED}) AS refused, sum(c.action = ${approvalWord}) AS held
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

function listTools(source: Source): ToolRow[] {
  const answered = source.findWord('answered')
  return source
    .all(
      `SELECT c.tool AS tool, count(*) AS calls, sum(${REFUSED}) AS refused,
      sum(o.status IS NOT NULL AND o.status <> ${answered}) AS failed,
      avg(o.duration) AS average, count(DISTINCT c.principal) AS people
      FROM calls c LEFT JOIN outcomes o ON o.intent = c.seq
      WHERE ${source.span} GROUP BY c.tool ORDER BY calls DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      tool: source.text(row.tool),
      calls: Number(row.calls),
      refused: Number(row.refused),
      failed: Number(row.failed),
      averageMs: row.average === null ? null : Number(row.average),
      people: Number(row.people),
    }))
}

function listPrincipals(source: Source): PrincipalRow[] {
  return source
    .all(
      `SELECT c.principal AS principal, count(*) AS calls, sum(${REFUSED}) AS refused,
      count(DISTINCT c.tool) AS tools FROM calls c WHERE ${source.span}
      GROUP BY c.principal ORDER BY calls DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      principal: source.text(row.principal),
      calls: Number(row.calls),
      refused: Number(row.refused),
      tools: Number(row.tools),
    }))
}

function listRefusals(source: Source): RefusalReportRow[] {
  return source
    .all(
      `SELECT c.tool AS tool, c.code AS code, c.rule AS rule, c.reason AS reason, count(*) AS n,
      count(DISTINCT c.principal) AS people, max(c.at) AS last FROM calls c
      WHERE ${REFUSED} AND ${source.span}
      GROUP BY 1, 2, 3, 4 ORDER BY n DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      tool: source.text(row.tool),
      code: source.text(row.code),
      rule: source.text(row.rule),
      reason: source.text(row.reason),
      count: Number(row.n),
      people: Number(row.people),
      lastMs: Number(row.last),
    }))
}

function listLimits(source: Source): LimitRow[] {
  const codes = ['RATE_LIMITED', 'SPEND_LIMITED'].map((code) => source.findWord(code))
  return source
    .all(
      `SELECT c.rule AS rule, c.code AS code, c.principal AS principal, count(*) AS n,
      max(c.at) AS last FROM calls c
      WHERE c.code <> ${USUAL_WORDS.code} AND c.code IN (${codes.join(', ')}) AND ${source.span}
      GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      rule: source.text(row.rule),
      code: source.text(row.code),
      principal: source.text(row.principal),
      count: Number(row.n),
      lastMs: Number(row.last),
    }))
}

function listSessions(source: Source, names: SessionNames): ReportSession[] {
  const rows = source
    .all(
      `SELECT c.session AS session, min(c.principal) AS principal, count(*) AS calls,
      sum(${REFUSED}) AS refused, min(c.at) AS first FROM calls c WHERE ${source.span}
      GROUP BY c.session ORDER BY calls DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      session: source.text(row.session),
      principal: source.text(row.principal),
      firstMs: Number(row.first),
      calls: Number(row.calls),
      refused: Number(row.refused),
    }))
  names.load(rows.map(({ session }) => session))
  return rows.map((row) => ({ ...row, name: names.nameOf(row.session) ?? '' }))
}

function listShadow(source: Source): ShadowRow[] {
  return source
    .all(
      `SELECT c.tool AS tool, c.shadow AS shadow, c.action AS action, count(*) AS n,
      count(DISTINCT c.principal) AS people, max(c.at) AS last FROM calls c
      WHERE c.shadow <> ${USUAL_WORDS.shadow} AND ${source.span}
      GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      tool: source.text(row.tool),
      shadow: source.text(row.shadow),
      action: source.text(row.action),
      count: Number(row.n),
      people: Number(row.people),
      lastMs: Number(row.last),
    }))
}

function listNewTools(source: Source): LedgerReport['newTools'] {
  return source
    .all(
      `SELECT c.tool AS tool, count(*) AS n, min(c.at) AS first FROM calls c WHERE ${source.span}
      GROUP BY c.tool HAVING min(c.seq) = (SELECT min(b.seq) FROM calls b WHERE b.tool = c.tool)
      AND (SELECT min(seq) FROM calls) < min(c.seq)
      ORDER BY first LIMIT ${REPORT_ROWS_MAX}`,
    )
    .map((row) => ({
      tool: source.text(row.tool),
      calls: Number(row.n),
      firstMs: Number(row.first),
    }))
}
