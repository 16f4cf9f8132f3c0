// A report as sections of tables, shared by the terminal, Markdown and HTML. Pure.

import type { LedgerReport } from './report.ts'

export interface ReportSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The text if there are no rows. */
  readonly none: string
}

export function formatTitle({ sinceMs, untilMs }: LedgerReport): string {
  return `What the gate did, ${minute(sinceMs)} to ${minute(untilMs)}`
}

export function buildSections(report: LedgerReport): ReportSection[] {
  const { totals } = report
  return [
    {
      title: 'In short',
      columns: [
        'calls',
        'allowed',
        'refused',
        'held',
        'limits hit',
        'answered',
        'failed',
        'unknown',
      ],
      rows: [
        [
          totals.calls,
          totals.allowed,
          totals.refused,
          totals.held,
          totals.limited,
          totals.answered,
          totals.failed,
          totals.unknown,
        ].map(count),
      ],
      none: '',
    },
    {
      title: 'What ran',
      columns: ['tool', 'calls', 'refused', 'failed', 'average', 'callers'],
      rows: report.tools.map(({ tool, calls, refused, failed, averageMs, people }) => [
        tool,
        count(calls),
        count(refused),
        count(failed),
        averageMs === null ? '' : span(averageMs),
        count(people),
      ]),
      none: 'No call came.',
    },
    {
      title: 'Who called',
      columns: ['who', 'calls', 'refused', 'tools'],
      rows: report.principals.map(({ principal, calls, refused, tools }) => [
        principal,
        count(calls),
        count(refused),
        count(tools),
      ]),
      none: 'Nobody.',
    },
    {
      title: 'Sessions',
      columns: ['session', 'client', 'who', 'first call', 'calls', 'refused'],
      rows: report.sessions.map(({ session, name, principal, firstMs, calls, refused }) => [
        session,
        name,
        principal,
        minute(firstMs),
        count(calls),
        count(refused),
      ]),
      none: 'None.',
    },
    {
      title: 'What was refused, and why',
      columns: ['tool', 'code', 'times', 'callers', 'last', 'reason', 'rule'],
      rows: report.refused.map(({ tool, code, count: times, people, lastMs, reason, rule }) => [
        tool,
        code,
        count(times),
        count(people),
        minute(lastMs),
        reason,
        rule,
      ]),
      none: 'Nothing.',
    },
    {
      title: 'What rules in shadow mode would have done',
      columns: ['tool', 'shadow', 'was', 'times', 'callers', 'last'],
      rows: report.shadow.map(({ tool, shadow, action, count: times, people, lastMs }) => [
        tool,
        shadow,
        action,
        count(times),
        count(people),
        minute(lastMs),
      ]),
      none: 'No rule in shadow mode matched a call.',
    },
    {
      title: 'What waited, and who decided',
      columns: ['request', 'tool', 'who', 'asked', 'became', 'by', 'waited', 'comment'],
      rows: report.waited.map(
        ({ request, tool, principal, atMs, became, by, waitedMs, comment }) => [
          request,
          tool,
          principal,
          minute(atMs),
          became,
          by,
          waitedMs === null ? '' : span(waitedMs),
          comment,
        ],
      ),
      none: 'Nothing was pending approval.',
    },
    {
      title: 'Who decided how much',
      columns: ['who', 'approved', 'denied'],
      rows: report.deciders.map(({ name, approved, denied }) => [
        name,
        count(approved),
        count(denied),
      ]),
      none: 'No approver decided anything.',
    },
    {
      title: 'New tools',
      columns: ['tool', 'first called', 'calls'],
      rows: report.newTools.map(({ tool, firstMs, calls }) => [
        tool,
        minute(firstMs),
        count(calls),
      ]),
      none: 'None was called for the first time.',
    },
    {
      title: 'Definitions',
      columns: ['tool', 'when', 'what'],
      rows: report.definitions.map(({ tool, atMs, what }) => [tool, minute(atMs), what]),
      none: 'None changed, none was accepted.',
    },
    {
      title: 'Limits that were hit',
      columns: ['rule', 'code', 'who', 'times', 'last'],
      rows: report.limits.map(({ rule, code, principal, count: times, lastMs }) => [
        rule,
        code,
        principal,
        count(times),
        minute(lastMs),
      ]),
      none: 'None.',
    },
    {
      title: 'The gate itself',
      columns: ['when', 'what', 'detail'],
      rows: report.events.map(({ atMs, name, detail }) => [
        minute(atMs),
        name,
        detail === 'null' ? '' : detail,
      ]),
      none: 'Nothing happened to it.',
    },
  ]
}

function count(value: number): string {
  return value.toLocaleString('en')
}

export function minute(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return `${Math.round(ms / 360_000) / 10} h`
}
