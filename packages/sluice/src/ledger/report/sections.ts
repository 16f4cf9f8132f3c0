// A report as sections of tables, shared by the terminal, Markdown and HTML. Pure.

import { describeEvent, titleOfEvent } from '../records/event-title.ts'
import type { LedgerReport } from './report.ts'

export interface ReportSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The text if there are no rows. */
  readonly none: string
}

export function formatTitle({ sinceMs, untilMs, principal, agent }: LedgerReport): string {
  const whose = [agent && `agent ${agent}`, principal].filter(Boolean).join(' of ')
  const what = whose === '' ? 'What the gate did' : `Calls of ${whose}`
  return `${what}, ${minute(sinceMs)} to ${minute(untilMs)}`
}

export function buildSections(report: LedgerReport): ReportSection[] {
  return [
    ...buildUseSections(report),
    ...buildDecisionSections(report),
    ...buildChangeSections(report),
  ]
}

/** Builds the sections on what was called, and by whom. */
function buildUseSections(report: LedgerReport): ReportSection[] {
  const { totals } = report
  return [
    {
      title: 'Summary',
      columns: ['calls', 'allowed', 'refused', 'held', 'limited', 'answered', 'failed', 'unknown'],
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
      title: 'Tools called',
      columns: ['tool', 'calls', 'refused', 'failed', 'average', 'callers'],
      rows: report.tools.map(({ tool, calls, refused, failed, averageMs, people }) => [
        tool,
        count(calls),
        count(refused),
        count(failed),
        averageMs === null ? '' : span(averageMs),
        count(people),
      ]),
      none: 'No calls.',
    },
    {
      title: 'Callers',
      columns: ['caller', 'calls', 'refused', 'tools'],
      rows: report.principals.map(({ principal, calls, refused, tools }) => [
        principal,
        count(calls),
        count(refused),
        count(tools),
      ]),
      none: 'None.',
    },
    {
      title: 'Sessions',
      columns: ['session', 'client', 'caller', 'first call', 'calls', 'refused'],
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
  ]
}

/** Builds the sections on what was refused, and what people decided. */
function buildDecisionSections(report: LedgerReport): ReportSection[] {
  return [
    {
      title: 'Refused calls',
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
      none: 'None.',
    },
    {
      title: 'Rules in shadow mode',
      columns: ['tool', 'would have been', 'was', 'times', 'callers', 'last'],
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
      title: 'Approvals',
      columns: ['request', 'tool', 'caller', 'requested', 'result', 'by', 'waited', 'comment'],
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
      none: 'No call needed approval.',
    },
    {
      title: 'Approvers',
      columns: ['approver', 'approved', 'denied'],
      rows: report.deciders.map(({ name, approved, denied }) => [
        name,
        count(approved),
        count(denied),
      ]),
      none: 'No approver made a decision.',
    },
  ]
}

/** Builds the sections on what was new, full or changed. */
function buildChangeSections(report: LedgerReport): ReportSection[] {
  return [
    {
      title: 'New tools',
      columns: ['tool', 'first called', 'calls'],
      rows: report.newTools.map(({ tool, firstMs, calls }) => [
        tool,
        minute(firstMs),
        count(calls),
      ]),
      none: 'No tool was called for the first time.',
    },
    {
      title: 'Tool definitions',
      columns: ['tool', 'when', 'what'],
      rows: report.definitions.map(({ tool, atMs, what }) => [tool, minute(atMs), what]),
      none: 'None was changed or accepted.',
    },
    {
      title: 'Limits reached',
      columns: ['rule', 'code', 'caller', 'times', 'last'],
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
      title: 'Events',
      columns: ['when', 'event', 'detail'],
      rows: report.events.map(({ atMs, name, detail }) => {
        const value: unknown = JSON.parse(detail)
        return [minute(atMs), titleOfEvent(name, value), describeEvent(value, name)]
      }),
      none: 'None.',
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
