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

/** A field of the rows, with a title before it if that is another: `callers=people`. */
type Column<Row> = (keyof Row & string) | `${string}=${keyof Row & string}`

interface SectionRows<Row> {
  readonly title: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly none: string
}

/** Writes the fields of each row in the form that their names ask for. */
function section<Row extends object>({ columns, rows, ...rest }: SectionRows<Row>): ReportSection {
  const named = columns.map((column) => [...column.split('='), column].slice(0, 2))
  const keys = named.map(([, key]) => key as keyof Row & string)
  return {
    ...rest,
    columns: named.map(([title = '']) => title),
    rows: rows.map((row) => keys.map((key) => formatCell(key, row[key]))),
  }
}

/** Durations; any other number whose name ends with `Ms` is a time. */
const DURATIONS: ReadonlySet<string> = new Set(['averageMs', 'waitedMs'])

function formatCell(key: string, value: unknown): string {
  if (typeof value !== 'number') return value === null ? '' : String(value)
  if (DURATIONS.has(key)) return span(value)
  return key.endsWith('Ms') ? minute(value) : count(value)
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
  return [
    section({
      title: 'Summary',
      columns: ['calls', 'allowed', 'refused', 'held', 'limited', 'answered', 'failed', 'unknown'],
      rows: [report.totals],
      none: '',
    }),
    section({
      title: 'Tools called',
      columns: ['tool', 'calls', 'refused', 'failed', 'average=averageMs', 'callers=people'],
      rows: report.tools,
      none: 'No calls.',
    }),
    section({
      title: 'Callers',
      columns: ['caller=principal', 'calls', 'refused', 'tools'],
      rows: report.principals,
      none: 'None.',
    }),
    section({
      title: 'Sessions',
      columns: [
        'session',
        'client=name',
        'caller=principal',
        'first call=firstMs',
        'calls',
        'refused',
      ],
      rows: report.sessions,
      none: 'None.',
    }),
  ]
}

/** Builds the sections on what was refused, and what people decided. */
function buildDecisionSections(report: LedgerReport): ReportSection[] {
  return [
    section({
      title: 'Refused calls',
      columns: ['tool', 'code', 'times=count', 'callers=people', 'last=lastMs', 'reason', 'rule'],
      rows: report.refused,
      none: 'None.',
    }),
    section({
      title: 'Rules in shadow mode',
      columns: [
        'tool',
        'would have been=shadow',
        'was=action',
        'times=count',
        'callers=people',
        'last=lastMs',
      ],
      rows: report.shadow,
      none: 'No rule in shadow mode matched a call.',
    }),
    section({
      title: 'Approvals',
      columns: [
        'request',
        'tool',
        'caller=principal',
        'requested=atMs',
        'result=became',
        'by',
        'waited=waitedMs',
        'comment',
      ],
      rows: report.waited,
      none: 'No call needed approval.',
    }),
    section({
      title: 'Approvers',
      columns: ['approver=name', 'approved', 'denied'],
      rows: report.deciders,
      none: 'No approver made a decision.',
    }),
  ]
}

/** Builds the sections on what was new, full or changed. */
function buildChangeSections(report: LedgerReport): ReportSection[] {
  const events = report.events.map(({ atMs, name, detail }) => {
    const value: unknown = JSON.parse(detail)
    return { atMs, event: titleOfEvent(name, value), detail: describeEvent(value, name) }
  })
  return [
    section({
      title: 'New tools',
      columns: ['tool', 'first called=firstMs', 'calls'],
      rows: report.newTools,
      none: 'No tool was called for the first time.',
    }),
    section({
      title: 'Tool definitions',
      columns: ['tool', 'when=atMs', 'what'],
      rows: report.definitions,
      none: 'None was changed or accepted.',
    }),
    section({
      title: 'Limits reached',
      columns: ['rule', 'code', 'caller=principal', 'times=count', 'last=lastMs'],
      rows: report.limits,
      none: 'None.',
    }),
    section({
      title: 'Events',
      columns: ['when=atMs', 'event', 'detail'],
      rows: events,
      none: 'None.',
    }),
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
