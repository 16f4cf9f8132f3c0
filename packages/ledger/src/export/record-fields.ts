// A record as named fields, one set of names for all kinds, for the CSV, CEF and OpenTelemetry
// formats.

import { describeChanges } from '../records/answer-changes.ts'
import type { DecisionRecord, LedgerRecord, OutcomeRecord } from '../records/record.ts'
import { formatJson } from './record-json.ts'

type FieldValue = string | number | boolean | null

function ofCall(read: (record: DecisionRecord) => FieldValue) {
  return (record: LedgerRecord) =>
    record.kind === 'intent' || record.kind === 'refusal' ? read(record) : null
}

function ofOutcome(read: (record: OutcomeRecord) => FieldValue) {
  return (record: LedgerRecord) => (record.kind === 'outcome' ? read(record) : null)
}

/** Every field with how it is read, in the order of the columns: a new one is added at the end. */
const READERS = {
  seq: ({ seq }) => seq,
  kind: ({ kind }) => kind,
  time: ({ atMs }) => formatTime(atMs),
  call: ofCall(({ callId }) => callId),
  principal: ofCall(({ principal }) => principal.id),
  agent: ofCall(({ agent }) => agent),
  session: ofCall(({ session }) => session),
  server: ofCall(({ server }) => server),
  method: ofCall(({ method }) => method),
  name: ofCall(({ name }) => name),
  category: ofCall(({ category }) => category),
  policy: ofCall(({ policy }) => policy),
  action: ofCall(({ decision }) => decision.action),
  code: ofCall(({ decision }) => decision.code),
  rule: ofCall(({ decision }) => decision.rule),
  reason: ofCall(({ decision }) => decision.reason),
  args_digest: ofCall(({ argsDigest }) => argsDigest),
  judged: ofCall(({ judged }) => (Object.keys(judged).length === 0 ? null : formatJson(judged))),
  limits: ofCall(({ decision: { limits } }) => (limits.length === 0 ? null : formatJson(limits))),
  intent: ofOutcome(({ intent }) => intent),
  status: ofOutcome(({ status }) => status),
  duration_ms: ofOutcome(({ durationMs }) => durationMs),
  bytes: ofOutcome(({ bytes }) => bytes),
  error: ofOutcome(({ errorCode }) => errorCode),
  attempts: ofOutcome(({ attempts }) => attempts),
  given_back: ofOutcome(({ givenBack }) => givenBack),
  labels: ofOutcome(({ labels }) => labels.join(' ')),
  event: (record) => (record.kind === 'event' ? record.name : null),
  detail: (record) =>
    record.kind === 'event' && record.detail !== null ? formatJson(record.detail) : null,
  hash: (_, hash) => hash,
  changes: ofOutcome(({ changes }) => describeChanges(changes)),
  unknown: ofCall(({ unknown }) => (unknown === true ? true : null)),
  gate: ({ gate }) => gate ?? null,
  parent: ofCall(({ parent }) => parent ?? null),
  approval: ofCall(({ approval }) => approval ?? null),
} satisfies Record<string, (record: LedgerRecord, hash: string) => FieldValue>

export type ExportField = keyof typeof READERS
export const FIELDS = Object.keys(READERS) as ExportField[]
export type RecordFields = Partial<Record<ExportField, string | number | boolean>>

/** Returns the fields that the record has. Empty texts and nulls are left out. */
export function toFields(record: LedgerRecord, hash: string): RecordFields {
  const there = FIELDS.map((name) => [name, READERS[name](record, hash)] as const)
  return Object.fromEntries(there.filter(([, value]) => value !== null && value !== ''))
}

export function formatTime(atMs: number): string {
  const date = new Date(atMs)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
