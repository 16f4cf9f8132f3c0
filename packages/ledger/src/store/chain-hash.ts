// The hash chain of records, the same in every store: SHA-256 over the previous hash, the length of the record
// as four bytes, and the record. Hashes are strings of 32 bytes (latin1).

import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'

export const HASH_BYTES = 32
export const LENGTH_BYTES = 4
/** The hash before the first record of a ledger. */
export const FIRST_HASH = '\0'.repeat(HASH_BYTES)

/** The hash after a record that follows `previous`. */
export function chainHash(previous: string, text: string): string {
  const record = Buffer.from(text)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(record.length)
  return hash('sha256', Buffer.concat([Buffer.from(previous, 'latin1'), length, record]), 'binary')
}

export function toHex(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('hex')
}

export function fromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1')
}
