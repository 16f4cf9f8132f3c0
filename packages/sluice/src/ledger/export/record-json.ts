// A record as one JSON object: amounts and inexact numbers as text, the time in both forms. For
// `--json`, and for exports.

import { type Decimal, formatDecimal } from '@sluice/policy/core/decimal'
import { ExactNumber } from '@sluice/policy/core/json'
import { escapeUnseenJson } from '../../core/visible-text.ts'
import type { LedgerRecord } from '../records/record.ts'

export function recordJson(record: LedgerRecord, more: object = {}): string {
  const { seq, kind, atMs, ...rest } = record
  return jsonLine({ seq, kind, at: timeText(atMs), atMs, ...rest, ...more })
}

export function jsonLine(value: unknown): string {
  const json = JSON.stringify(value, (_, inner) => {
    if (inner instanceof ExactNumber) return inner.text
    return isDecimal(inner) ? formatDecimal(inner) : inner
  })
  return escapeUnseenJson(json)
}

function isDecimal(value: unknown): value is Decimal {
  return typeof value === 'object' && value !== null && typeof (value as Decimal).units === 'bigint'
}

export function timeText(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? 'no time' : date.toISOString()
}
