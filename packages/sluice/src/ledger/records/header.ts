// The first fields of a record, `[version,seq,kind,at,` and of an outcome the intent behind them, read
// from the bytes without reading the rest: for walks over millions of records.

import { KINDS } from './encoding.ts'

/** Of the record read last; `end` is where its fifth field begins. One for all: a walk would make millions of them. */
export const header = { seq: 0, kind: 0, atMs: 0, end: 0, intent: 0 }

/** False where the bytes do not begin like a record. */
export function readHeader(data: Buffer, start: number): boolean {
  if (data[start] !== 0x5b) return false
  if (!readNumber(data, start + 1)) return false
  if (!readNumber(data, end)) return false
  header.seq = value
  if (!readNumber(data, end)) return false
  header.kind = value
  if (!readNumber(data, end)) return false
  header.atMs = value
  header.end = end
  if (header.kind !== KINDS.outcome) return true
  if (!readNumber(data, end)) return false
  header.intent = value
  return true
}

let value = 0
let end = 0

/** Digits and the comma behind them. */
function readNumber(data: Buffer, start: number): boolean {
  let at = start
  let byte = data[at] as number
  value = 0
  for (; byte >= 0x30 && byte <= 0x39; byte = data[++at] as number)
    value = value * 10 + (byte - 0x30)
  end = at + 1
  return at > start && byte === 0x2c
}
