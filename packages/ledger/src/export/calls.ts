// Calls as CSV for a spreadsheet, oldest first: one line for each call with its outcome, and a column for each
// argument that rules read.

import type { DatabaseSync } from 'node:sqlite'
import { type CallWithOutcome, type Query, queryLedger } from '../query/query.ts'
import type { RecordIndex } from '../query/record-index.ts'
import { toOutcomeLabel } from '../records/outcome-label.ts'
import { listIndexedValues } from '../records/recorded-values.ts'
import type { ExportCursor, ExportPage } from './chunks.ts'
import { cell } from './forms.ts'
import { formatTime } from './record-fields.ts'

const HEAD = 'seq,time,principal,agent,session,server,tool,decision,code,reason,status,duration_ms'
const CALLS_AT_ONCE = 500

export function exportCalls(
  ledger: DatabaseSync,
  index: RecordIndex | undefined,
  { query, from }: { readonly query: Query; readonly from: ExportCursor },
): ExportPage {
  const { seq, columns = [] } = from
  const after = seq - 1
  const page = { ...query, order: 'oldest', after, limit: CALLS_AT_ONCE } as const
  const { calls, next } = queryLedger(ledger, page, index)
  const head = seq <= 1 ? `${[HEAD, ...columns.map(cell)].join(',')}\r\n` : ''
  const text = head + calls.map((call) => toLine(call, columns)).join('')
  return { text, next: next === null ? null : { seq: next + 1, open: [], columns } }
}

function toLine({ record, outcome, became }: CallWithOutcome, columns: readonly string[]): string {
  const { seq, atMs, principal, agent, session, server, name, decision } = record
  const values = new Map(listIndexedValues(record.judged))
  const label = toOutcomeLabel(became, decision.code)
  const cells = [
    seq,
    formatTime(atMs),
    principal.id,
    agent ?? '',
    session,
    server,
    name,
    label,
    decision.code,
    decision.reason,
    outcome?.status ?? '',
    outcome?.durationMs ?? '',
    ...columns.map((path) => values.get(path) ?? ''),
  ]
  return `${cells.map((one) => (typeof one === 'number' ? String(one) : cell(one))).join(',')}\r\n`
}
