// A record as named fields, one set of names for all kinds, for the CSV, CEF and OpenTelemetry
// formats.

import { describeChanges } from '../../core/answer-changes.ts'
import type { LedgerRecord } from '../records/record.ts'
import { formatJson } from './record-json.ts'

export const FIELDS = [
  'seq',
  'kind',
  'time',
  'call',
  'principal',
  'agent',
  'session',
  'server',
  'method',
  'name',
  'category',
  'policy',
  'action',
  'code',
  'rule',
  'reason',
  'args_digest',
  'judged',
  'limits',
  'intent',
  'status',
  'duration_ms',
  'bytes',
  'error',
  'attempts',
  'given_back',
  'labels',
  'event',
  'detail',
  'hash',
  'changes',
  'unknown',
  'gate',
  'parent',
] as const
export type ExportField = (typeof FIELDS)[number]
export type RecordFields = Partial<Record<ExportField, string | number | boolean>>

/** Returns the fields that the record has. Empty texts and nulls are left out. */
export function toFields(record: LedgerRecord, hash: string): RecordFields {
  const all: Partial<Record<ExportField, string | number | boolean | null>> = {
    seq: record.seq,
    kind: record.kind,
    time: formatTime(record.atMs),
    hash,
    gate: record.gate ?? null,
    ...ofKind(record),
  }
  const there = Object.entries(all).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(there) as RecordFields
}

function ofKind(
  record: LedgerRecord,
): Partial<Record<ExportField, string | number | boolean | null>> {
  if (record.kind === 'event')
    return { event: record.name, detail: record.detail === null ? null : formatJson(record.detail) }
  if (record.kind === 'outcome') {
    const { intent, status, durationMs, bytes, errorCode, attempts, givenBack, labels } = record
    const { changes } = record
    return {
      intent,
      status,
      duration_ms: durationMs,
      bytes,
      error: errorCode,
      attempts,
      given_back: givenBack,
      labels: labels.join(' '),
      changes: describeChanges(changes),
    }
  }
  const { callId, principal, agent, session, server, method, name, category, policy } = record
  const { action, code, rule, reason, limits } = record.decision
  return {
    call: callId,
    principal: principal.id,
    agent,
    session,
    server,
    method,
    name,
    category,
    policy,
    action,
    code,
    rule,
    reason,
    args_digest: record.argsDigest,
    judged: Object.keys(record.judged).length === 0 ? null : formatJson(record.judged),
    limits: limits.length === 0 ? null : formatJson(limits),
    unknown: record.unknown === true ? true : null,
    parent: record.parent ?? null,
  }
}

export function formatTime(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
