// The chain as bytes. A block holds the records of one commit:
//   previous hash (32) | length (4) | record | hash (32) | length (4) | record | hash (32) | ...
// Each hash is SHA-256 over the previous hash, the length and the record: one range of bytes, so
// neither writing nor verifying copies anything.

import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { LedgerError } from '../records/errors.ts'
import { RECORD_BYTES_MAX } from '../records/limits.ts'
import { FIRST_HASH, HASH_BYTES, LENGTH_BYTES } from '../store/chain-hash.ts'

/** Writes blocks into one reused buffer; hashes are strings of 32 bytes (latin1). */
export class BlockWriter {
  #buffer = Buffer.allocUnsafe(65_536)
  #end = 0
  hash = FIRST_HASH
  count = 0

  begin(previous: string): void {
    this.hash = previous
    this.count = 0
    this.#end = this.#buffer.write(previous, 0, 'latin1')
  }

  get bytes(): number {
    return this.#end
  }

  /** A view that is valid until the next `begin`. */
  get data(): Buffer {
    return this.#buffer.subarray(0, this.#end)
  }

  append(text: string): void {
    if (text.length > RECORD_BYTES_MAX) throw tooLarge(text.length)
    const at = this.#end
    this.#makeRoom(at + LENGTH_BYTES + text.length * 3 + HASH_BYTES)
    const buffer = this.#buffer
    const length = buffer.write(text, at + LENGTH_BYTES)
    if (length > RECORD_BYTES_MAX) throw tooLarge(length)
    buffer.writeUInt32BE(length, at)
    const end = at + LENGTH_BYTES + length
    this.hash = hash('sha256', buffer.subarray(at - HASH_BYTES, end), 'binary')
    this.#end = end + buffer.write(this.hash, end, 'latin1')
    this.count++
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(bytes, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}

/** Position of a record in its block. */
export interface RecordSpan {
  readonly start: number
  readonly end: number
}

/** The record whose length is at `at`; undefined if the bytes are too short. */
export function getRecordSpanAt(block: Buffer, at: number): RecordSpan | undefined {
  if (at + LENGTH_BYTES > block.length) return undefined
  const start = at + LENGTH_BYTES
  const end = start + block.readUInt32BE(at)
  return end + HASH_BYTES <= block.length ? { start, end } : undefined
}

export function listRecordSpans(block: Buffer): RecordSpan[] {
  const places: RecordSpan[] = []
  for (let at = HASH_BYTES; at < block.length; ) {
    const place = getRecordSpanAt(block, at)
    if (place === undefined) throw unreadable()
    places.push(place)
    at = place.end + HASH_BYTES
  }
  return places
}

/** The hash after each record, in order. */
export function eachHash(block: Buffer, take: (hash: string) => void): void {
  for (let at = HASH_BYTES; at < block.length; ) {
    const end = at + LENGTH_BYTES + block.readUInt32BE(at)
    if (end + HASH_BYTES > block.length) throw unreadable()
    take(block.toString('latin1', end, end + HASH_BYTES))
    at = end + HASH_BYTES
  }
}

export function recordText(block: Buffer, { start, end }: RecordSpan): string {
  return block.toString('utf8', start, end)
}

export function hashAfter(block: Buffer, { end }: RecordSpan): string {
  return block.toString('latin1', end, end + HASH_BYTES)
}

/** The expected hash of the record at `place`, from the bytes before it. */
export function computeRecordHash(block: Buffer, { start, end }: RecordSpan): string {
  return hash('sha256', block.subarray(start - LENGTH_BYTES - HASH_BYTES, end), 'binary')
}

function tooLarge(bytes: number): LedgerError {
  return new LedgerError(
    'LEDGER_RECORD',
    `a record has ${bytes} bytes, the limit is ${RECORD_BYTES_MAX}`,
    'shorten what it names',
  )
}

function unreadable(): LedgerError {
  return new LedgerError(
    'LEDGER_BROKEN',
    'a block of the ledger is not readable',
    '`sluice ledger verify` shows where',
  )
}
