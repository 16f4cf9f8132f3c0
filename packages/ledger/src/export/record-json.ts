// A record as one JSON object: amounts and inexact numbers as text, the time in both forms. For
// `--json`, and for exports.

import { escapeUnseenJson } from '@sluice/guard/show/visible-text'
import { formatDecimal, isDecimal } from '@sluice/policy/values/decimal'
import { ExactNumber } from '@sluice/policy/values/json'
import type { LedgerRecord } from '../records/record.ts'

export function recordJson(record: LedgerRecord, more: object = {}): string {
  const { seq, kind, atMs, ...rest } = record
  return escapeUnseenJson(formatJson({ seq, kind, at: timeText(atMs), atMs, ...rest, ...more }))
}

/** Amounts and inexact numbers as text. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (inner instanceof ExactNumber) return inner.text
    return isDecimal(inner) ? formatDecimal(inner) : inner
  })
}

export function timeText(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? 'no time' : date.toISOString()
}
