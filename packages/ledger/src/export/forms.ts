// Export formats for other programs: CSV for spreadsheets, CEF for SIEMs, OpenTelemetry logs for
// collectors (OTLP as JSON). Names chosen by agents and servers are escaped as each format
// requires, so that no record can pass for two, no cell for a formula, and nothing controls the
// reader's terminal.

import { escapeUnseenJson, visibleLines, visibleText } from '@sluice/guard/show/visible-text'
import { titleOfCall } from '../records/call-title.ts'
import type { LedgerRecord } from '../records/record.ts'
import { type ExportField, FIELDS, formatTime, toFields } from './record-fields.ts'

export const EXPORT_FORMATS = ['jsonl', 'csv', 'cef', 'otlp'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const CSV_HEAD = `${FIELDS.join(',')}\r\n`

export function csvLine(record: LedgerRecord, hash: string): string {
  const fields = toFields(record, hash)
  const cells = FIELDS.map((name) => {
    const value = fields[name]
    if (value === undefined) return ''
    return typeof value === 'string' ? cell(value) : String(value)
  })
  return `${cells.join(',')}\r\n`
}

/** Matches what spreadsheets read as a formula, some of them also after white space, or in full width. */
const FORMULA = /^[\s\0]*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/

/**
 * Spreadsheets evaluate what starts like a formula: an agent could name a tool that way (CSV
 * injection).
 */
export function cell(text: string): string {
  const shown = visibleLines(text)
  const safe = FORMULA.test(text) ? `'${shown}` : shown
  return /[",\r\n']/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe
}

/** Keys of an extension with their fields; those without a meaning of their own have a label. */
const CEF_FIELDS: readonly (readonly [key: string, field: ExportField, label?: string])[] = [
  ['externalId', 'seq'],
  ['suser', 'principal'],
  ['act', 'action'],
  ['outcome', 'status'],
  ['reason', 'reason'],
  ['dproc', 'server'],
  ['request', 'name'],
  ['requestMethod', 'method'],
  ['cs1', 'session', 'session'],
  ['cs2', 'agent', 'agent'],
  ['cs3', 'rule', 'rule'],
  ['cs4', 'code', 'code'],
  ['cs5', 'call', 'call'],
  ['cs6', 'hash', 'hash'],
  ['cn1', 'intent', 'intent'],
  ['cn2', 'duration_ms', 'durationMs'],
  ['out', 'bytes'],
  ['msg', 'detail'],
]

/** ArcSight's Common Event Format, version 0. */
export function cefLine(record: LedgerRecord, hash: string, version: string): string {
  const fields = toFields(record, hash)
  const textOf = (name: keyof typeof fields): string => String(fields[name] ?? '')
  const [id, name] =
    record.kind === 'event'
      ? [textOf('event'), `gate: ${textOf('event')}`]
      : record.kind === 'outcome'
        ? [textOf('status'), `call ${textOf('status')}`]
        : [textOf('code'), `${record.kind}: ${textOf('action')}`]
  const parts = CEF_FIELDS.flatMap(([key, field, label]) => {
    const value = textOf(field)
    if (value === '') return []
    return [`${key}=${cefValue(value)}`, ...(label === undefined ? [] : [`${key}Label=${label}`])]
  })
  parts.unshift(`rt=${record.atMs}`)
  const head = ['CEF:0', 'Sluice', 'sluice', version, id, name, String(getSeverity(record).cef)]
  return `${head.map((part, at) => (at === 0 ? part : cefHead(String(part)))).join('|')}|${parts.join(' ')}\n`
}

function cefHead(text: string): string {
  const line = text.replace(/[\r\n\u2028\u2029]+/g, ' ')
  return visibleText(line).replace(/[\\|]/g, '\\$&')
}

function cefValue(text: string): string {
  const lines = text.replace(/\r\n|[\r\u2028\u2029]/g, '\n')
  return visibleLines(lines).replace(/[\\=]/g, '\\$&').replaceAll('\n', '\\n')
}

/** One log record of OTLP as JSON. */
export function otlpRecord(record: LedgerRecord, hash: string): unknown {
  const { seq, kind, time, ...rest } = toFields(record, hash)
  const { number, text } = getSeverity(record)
  const nanos = `${BigInt(record.atMs) * 1_000_000n}`
  const attributes = Object.entries({ seq, kind, ...rest }).map(([name, value]) => ({
    key: `sluice.${name}`,
    value: otlpValue(value as string | number | boolean),
  }))
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber: number,
    severityText: text,
    eventName: `sluice.${kind}`,
    body: { stringValue: formatLogBody(record) },
    attributes,
  }
}

/** A whole OTLP request: also a line of a file that collectors read. */
export function otlpRequest(records: readonly unknown[], version: string): string {
  const service = [{ key: 'service.name', value: { stringValue: 'sluice' } }]
  const scopeLogs = [{ scope: { name: 'sluice.ledger', version }, logRecords: records }]
  const request = { resourceLogs: [{ resource: { attributes: service }, scopeLogs }] }
  return escapeUnseenJson(JSON.stringify(request))
}

function otlpValue(value: string | number | boolean): unknown {
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'string') return { stringValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function formatLogBody(record: LedgerRecord): string {
  if (record.kind === 'event') return `gate: ${record.name}`
  if (record.kind === 'outcome') return `call ${record.intent}: ${record.status}`
  const { decision, principal } = record
  return `${decision.action} ${titleOfCall(record)} for ${principal.id} at ${formatTime(record.atMs)}`
}

function getSeverity(record: LedgerRecord): { cef: number; number: number; text: string } {
  const info = { cef: 2, number: 9, text: 'INFO' }
  const warn = { cef: 5, number: 13, text: 'WARN' }
  if (record.kind === 'refusal') return { ...warn, cef: 6 }
  if (record.kind === 'outcome') return record.status === 'unknown' ? warn : info
  return info
}
