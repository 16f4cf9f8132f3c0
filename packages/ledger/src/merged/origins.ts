// Which record of which gate a record of the merged ledger is, and the other way round.

import type { DatabaseSync } from 'node:sqlite'
import { readHead } from '../chain/read.ts'
import type { LedgerRecord } from '../records/record.ts'

export interface RecordOrigin {
  readonly gate: string
  /** The number of the record in the chain of that gate. */
  readonly seq: number
}

/** Reads the origin of a record, by its number in the merged ledger. */
export function originReader(merged: DatabaseSync): (seq: number) => RecordOrigin | undefined {
  const statement = merged.prepare(
    'SELECT first, gate, seq FROM runs WHERE first <= ? ORDER BY first DESC LIMIT 1',
  )
  return (number) => {
    const run = statement.get(number)
    return run && { gate: String(run.gate), seq: Number(run.seq) + number - Number(run.first) }
  }
}

/** Returns the record with the numbers that its gate gave it. */
export function toOriginal<R extends LedgerRecord>(
  record: R,
  originOf: (seq: number) => RecordOrigin | undefined,
): R {
  const origin = originOf(record.seq)
  if (origin === undefined) return record
  if (record.kind !== 'outcome') return { ...record, ...origin }
  return { ...record, ...origin, intent: originOf(record.intent)?.seq ?? record.intent }
}

/** The number in the merged ledger of the last record of a gate up to `seq`; 0 if it has none. */
export function findMerged(merged: DatabaseSync, gate: string, seq: number): number {
  const run = merged
    .prepare('SELECT first, seq FROM runs WHERE gate = ? AND seq <= ? ORDER BY seq DESC LIMIT 1')
    .get(gate, seq)
  if (run === undefined) return 0
  const first = Number(run.first)
  const next = merged.prepare('SELECT min(first) AS first FROM runs WHERE first > ?').get(first)
  const last = Number(next?.first ?? readHead(merged).seq + 1) - 1
  return Math.min(last, first + seq - Number(run.seq))
}
