// Reads the first fields of a record, `[version,seq,kind,at,` and the intent of an outcome, from
// the bytes without decoding the rest: for walks over millions of records.

import { KINDS } from './encoding.ts'

/**
 * Of the last record read; `end` is where its fifth field starts. Reused: a walk would allocate
 * millions.
 */
export const header = { seq: 0, kind: 0, atMs: 0, end: 0, intent: 0 }

/** Reads the header of a record. Returns false if the bytes do not start like a record. */
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

/** Digits and the comma after them. */
function readNumber(data: Buffer, start: number): boolean {
  let at = start
  let byte = data[at] as number
  value = 0
  for (; byte >= 0x30 && byte <= 0x39; byte = data[++at] as number)
    value = value * 10 + (byte - 0x30)
  end = at + 1
  return at > start && byte === 0x2c
}
