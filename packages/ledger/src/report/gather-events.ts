// Collects the events of a report: what was pending approval and who decided, definitions that were
// accepted or refused, and what happened to the gate itself.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { USUAL_WORDS } from '../records/files.ts'
import { REPORT_ROWS_MAX } from '../records/limits.ts'
import type { ApprovalReportRow, DeciderRow, DefinitionRow, EventRow } from './report.ts'
import type { Source } from './source.ts'

interface ReportEvent {
  readonly atMs: number
  readonly name: string
  readonly detail: JsonObject
}

function noted(source: Source, glob: string): ReportEvent[] {
  return source
    .all(
      `SELECT e.at AS at, w.text AS name, e.detail AS detail FROM words w
      JOIN events e ON e.name = w.id WHERE w.text GLOB ? AND e.at BETWEEN ? AND ? ORDER BY e.seq`,
      glob,
      source.scope.sinceMs,
      source.scope.untilMs,
    )
    .map((row) => {
      const parsed: unknown = JSON.parse(String(row.detail))
      const detail: JsonObject = isObject(parsed) ? parsed : {}
      return { atMs: Number(row.at), name: String(row.name), detail }
    })
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

export function listDefinitions(source: Source): DefinitionRow[] {
  const pins = source.isOfAll ? noted(source, 'pin') : []
  const accepted = pins.flatMap(({ atMs, detail }) => {
    const tools = Array.isArray(detail.tools) ? detail.tools : []
    const by = isObject(detail.by)
      ? toText(detail.by.by) || toText(detail.by.name)
      : toText(detail.by)
    return tools.flatMap((tool) => {
      const name = isObject(tool) ? toText(tool.name) || toText(tool.tool) : toText(tool)
      const what = `accepted${by === '' ? '' : ` by ${by}`}`
      return [{ atMs, tool: `${toText(detail.server)}/${name}`, what }]
    })
  })
  const code = source.findWord('DEFINITION_CHANGED')
  const calls = source.group({
    words: { tool: 'c.tool' },
    figures: { count: 'count(*)', atMs: 'max(c.at)' },
    orderBy: 'count',
    where: `c.code <> ${USUAL_WORDS.code} AND c.code = ${code}`,
  })
  const refused = calls.map(({ tool, count, atMs }) => ({
    atMs,
    tool,
    what: `another definition than was accepted: ${count} ${count === 1 ? 'call' : 'calls'} refused`,
  }))
  return [...refused, ...accepted.slice(-REPORT_ROWS_MAX)]
}

function toPending(atMs: number, detail: JsonObject): ApprovalReportRow {
  return {
    request: toText(detail.request),
    tool: `${toText(detail.server)}/${toText(detail.name)}`,
    principal: toText(detail.principal),
    atMs,
    became: 'pending',
    by: '',
    waitedMs: null,
    comment: '',
  }
}

const ENDS = ['approved', 'denied', 'expired', 'void']

export function gatherApprovals(source: Source): {
  readonly waited: readonly ApprovalReportRow[]
  readonly deciders: readonly DeciderRow[]
} {
  // Later steps of a request do not all name its caller.
  const all = noted(source, 'approval-*')
  const concerned = new Set(
    all.filter(({ detail }) => source.concerns(detail)).map(({ detail }) => detail.request),
  )
  const steps = all.filter(({ detail }) => concerned.has(detail.request))
  const requests = new Map<string, ApprovalReportRow>()
  const deciders = new Map<string, { name: string; approved: number; denied: number }>()
  for (const { atMs, name, detail } of steps) {
    const step = name.slice('approval-'.length)
    const request = toText(detail.request)
    const before = requests.get(request) ?? toPending(atMs, detail)
    const by = toText(detail.by)
    if (by !== '' && (step === 'voted' || step === 'approved' || step === 'denied')) {
      const known = deciders.get(by) ?? { name: by, approved: 0, denied: 0 }
      if (step === 'approved') known.approved++
      if (step === 'denied') known.denied++
      deciders.set(by, known)
    }
    const isEnd = ENDS.includes(step)
    requests.set(request, {
      ...before,
      became: isEnd || step === 'executed' ? step : before.became,
      by: by === '' ? before.by : by,
      waitedMs: isEnd ? atMs - before.atMs : before.waitedMs,
      comment: toText(detail.comment) || before.comment,
    })
  }
  requests.delete('')
  const waited = [...requests.values()].reverse().slice(0, REPORT_ROWS_MAX)
  return { waited, deciders: [...deciders.values()] }
}

/** Lists events of the gate itself or about the caller. Steps of approvals are reported separately. */
export function listEvents(source: Source): EventRow[] {
  const { sinceMs, untilMs, principal, agent } = source.scope
  const callers = Object.entries({ principal, agent }).flatMap(([field, name]) =>
    name === undefined ? [] : [{ sql: ` AND e.detail ->> '$.${field}' = ?`, name }],
  )
  return source
    .all(
      `SELECT e.at AS at, w.text AS name, e.detail AS detail FROM events e
      JOIN words w ON w.id = e.name
      WHERE e.at BETWEEN ? AND ? AND w.text NOT GLOB 'approval-*'${callers.map(({ sql }) => sql).join('')}
      ORDER BY e.seq DESC LIMIT ${REPORT_ROWS_MAX}`,
      sinceMs,
      untilMs,
      ...callers.map(({ name }) => name),
    )
    .map((row) => ({ atMs: Number(row.at), name: String(row.name), detail: String(row.detail) }))
}
