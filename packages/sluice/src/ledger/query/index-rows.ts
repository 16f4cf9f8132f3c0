// Maps one record to the query index: a row of `calls`, `outcomes` or `events`, with its texts
// interned as words. Written by record-index.ts, and derived again by index-check.ts for
// comparison. Pure.

import type { LedgerRecord } from '../records/record.ts'
import { shadowText } from '../records/shadow-text.ts'

/** The values of a row are `before`, the numbers of `words`, and `after`, in the order of the table. */
export interface IndexRow {
  readonly table: 'calls' | 'outcomes' | 'events'
  readonly before: readonly number[]
  readonly words: readonly string[]
  readonly after: readonly (string | number | null)[]
}

export function toIndexRow(record: LedgerRecord): IndexRow {
  const { seq, atMs } = record
  if (record.kind === 'event') {
    const after = [JSON.stringify(record.detail)]
    return { table: 'events', before: [seq, atMs], words: [record.name], after }
  }
  if (record.kind === 'outcome') {
    const { intent, status, durationMs, bytes, errorCode } = record
    const after = [durationMs, bytes, errorCode]
    return { table: 'outcomes', before: [intent, seq], words: [status], after }
  }
  const { principal, agent, session, server, method, name, category, decision } = record
  const { action, code, rule, reason } = decision
  return {
    table: 'calls',
    before: [seq, atMs],
    words: [
      principal.id,
      agent ?? '',
      session,
      server,
      method,
      name,
      `${server}/${name}`,
      category ?? '',
      action,
      code,
      rule,
      record.kind === 'refusal' ? reason : '',
      shadowText(decision.shadow),
    ],
    after: [record.unknown === true ? 1 : 0],
  }
}

type Values = readonly (string | number | null)[]

/**
 * A checksum over all rows of a table that changes with every added, removed or changed row:
 * maintained while indexing (by `rowSum`) and recomputed over the table (by the SQL next to it). It
 * finds damage and careless edits for the cost of one scan; an attacker who updates it too is found
 * by comparing with the chain.
 */
const MODULUS = 1_000_003
const SPREAD = 1_009

export const TABLE_SUMS: Readonly<Record<IndexRow['table'], string>> = {
  calls: `(at % ${MODULUS} * 3 + principal * 5 + agent * 7 + session * 11 + server * 13 + method * 17
    + name * 19 + tool * 23 + category * 29 + action * 31 + code * 37 + rule * 41 + reason * 43
    + shadow * 47 + unknown * 53)
    % ${MODULUS} * (seq % ${SPREAD} + 1)`,
  outcomes: `(seq % ${MODULUS} * 3 + status * 5 + bytes % ${MODULUS} * 7
    + coalesce(error, 0) % ${MODULUS} * 11) % ${MODULUS} * (intent % ${SPREAD} + 1)`,
  events: `(at % ${MODULUS} * 3 + name * 5 + octet_length(detail) * 7)
    % ${MODULUS} * (seq % ${SPREAD} + 1)`,
}

/** Of the words of a call, and of `unknown` after them. */
const CALL_WEIGHTS = [5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53] as const

export function rowSum(table: IndexRow['table'], values: Values): number {
  const at = (place: number): number => Number(values[place] ?? 0)
  const spread = (at(0) % SPREAD) + 1
  if (table === 'outcomes') {
    const error = (at(5) % MODULUS) * 11
    const sum = (at(1) % MODULUS) * 3 + at(2) * 5 + (at(4) % MODULUS) * 7 + error
    return (sum % MODULUS) * spread
  }
  const timed = (at(1) % MODULUS) * 3
  const sum =
    table === 'events'
      ? timed + at(2) * 5 + Buffer.byteLength(String(values[3])) * 7
      : CALL_WEIGHTS.reduce((total, weight, place) => total + at(place + 2) * weight, timed)
  return (sum % MODULUS) * spread
}
