// Verifies block after block. A block in which everything fits goes the fast way; any other is
// taken apart, so that one edit is one problem with the right number, whatever was edited: the
// record, its hash, its length, the order, or what the row says beside it.

import { hash } from 'node:crypto'
import { HASH_BYTES, hashAfter, hashOf, type Place, placeAt } from './block.ts'
import { PROBLEMS_MAX } from './limits.ts'
import type { Block } from './read.ts'

export interface Problem {
  readonly seq: number
  readonly kind: 'edited' | 'missing' | 'moved' | 'unreadable'
  readonly message: string
}

interface Found {
  readonly seq: number
  readonly place: Place
  readonly stored: string
}

export class Verifier {
  readonly problems: Problem[] = []
  records = 0
  #expected: number
  /** The hash stored with the record before, and what it should have been where that differs;
   * undefined where that record is missing. */
  #previous: string | undefined
  #instead: string | undefined
  #lastHash: string

  constructor(expected: number, previous: string) {
    this.#expected = expected
    this.#previous = previous
    this.#lastHash = previous
  }

  get last(): { seq: number; hash: string } {
    return { seq: this.#expected - 1, hash: this.#lastHash }
  }

  report(seq: number, kind: Problem['kind'], message: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ seq, kind, message })
  }

  missingUntil(seq: number): void {
    this.#missing(this.#expected, seq)
    this.#expected = seq + 1
  }

  add(block: Block): void {
    if (!this.#fits(block)) this.#takeApart(block)
  }

  #fits({ seq, count, at, data }: Block): boolean {
    if (seq !== this.#expected || this.#previous === undefined) return false
    if (data.toString('latin1', 0, HASH_BYTES) !== this.#previous) return false
    let expected = seq
    let latestMs = 0
    let stored = ''
    for (let offset = HASH_BYTES; offset < data.length; expected++) {
      const place = placeAt(data, offset)
      if (place === undefined || !readHeader(data, place.start)) return false
      stored = hashAfter(data, place)
      if (header.seq !== expected || hashOf(data, place) !== stored) return false
      if (header.atMs > latestMs) latestMs = header.atMs
      offset = place.end + HASH_BYTES
    }
    if (expected - seq !== count || latestMs !== at || count === 0) return false
    this.records += count
    this.#expected = expected
    this.#follow(stored, undefined)
    return true
  }

  #takeApart({ seq, count, at, data }: Block): void {
    const before = this.problems.length
    const found: Found[] = []
    let latestMs = 0
    let offset = HASH_BYTES
    while (offset < data.length) {
      const place = placeAt(data, offset)
      if (place === undefined) break
      const known = readHeader(data, place.start)
      const position = (found.at(-1)?.seq ?? seq - 1) + 1
      found.push({ seq: known ? header.seq : position, place, stored: hashAfter(data, place) })
      if (known) latestMs = Math.max(latestMs, header.atMs)
      offset = place.end + HASH_BYTES
    }
    const sorted = [...found].sort((a, b) => a.seq - b.seq)
    sorted.forEach((item, index) => {
      if (found[index] !== item)
        this.report(item.seq, 'moved', `record ${item.seq} is not in its place`)
    })
    for (const item of sorted) this.#check(item, data)
    if (offset !== data.length) this.#unreadable(seq + count)
    if (this.problems.length > before) return
    const first = sorted[0]?.seq ?? seq
    const leading = sorted[0] === undefined || this.#leads(data, sorted[0])
    if (!leading || first !== seq || sorted.length !== count || latestMs !== at)
      this.report(first, 'edited', `what stands beside record ${first} was edited`)
  }

  #leads(data: Buffer, { place, stored }: Found): boolean {
    return hashOf(data, place) === stored
  }

  #check({ seq, place, stored }: Found, data: Buffer): void {
    this.records++
    if (seq < this.#expected)
      return this.report(seq, 'moved', `record ${seq} stands in a second place`)
    if (seq > this.#expected) {
      this.#missing(this.#expected, seq - 1)
      this.#previous = undefined
    }
    this.#expected = seq + 1
    const should = this.#previous === undefined ? stored : after(this.#previous, data, place)
    if (
      should !== stored &&
      (this.#instead === undefined || after(this.#instead, data, place) !== stored)
    )
      this.report(seq, 'edited', `record ${seq} was edited, or its hash`)
    this.#follow(stored, should === stored ? undefined : should)
  }

  #follow(stored: string, instead: string | undefined): void {
    this.#previous = stored
    this.#lastHash = stored
    this.#instead = instead
  }

  #missing(from: number, to: number): void {
    const what = from === to ? `record ${from} is` : `records ${from} to ${to} are`
    this.report(from, 'missing', `${what} missing`)
  }

  #unreadable(next: number): void {
    this.report(
      this.#expected,
      'unreadable',
      `the ledger cannot be read from record ${this.#expected} on`,
    )
    this.#expected = Math.max(this.#expected, next)
    this.#previous = undefined
  }
}

function after(previous: string, data: Buffer, { start, end }: Place): string {
  const bytes = Buffer.from(data.subarray(start - 4 - HASH_BYTES, end))
  bytes.write(previous, 0, 'latin1')
  return hash('sha256', bytes, 'binary')
}

/** One for all: the walk reads millions of them. */
const header = { seq: 0, atMs: 0 }

/** `[version,seq,kind,at,` without reading the rest; false where the bytes do not say that. */
function readHeader(data: Buffer, start: number): boolean {
  if (data[start] !== 0x5b) return false
  let at = start + 1
  for (let field = 0; field < 4; field++) {
    let value = 0
    let byte = data[at] as number
    if (byte < 0x30 || byte > 0x39) return false
    for (; byte >= 0x30 && byte <= 0x39; byte = data[++at] as number)
      value = value * 10 + (byte - 0x30)
    if (byte !== 0x2c) return false
    at++
    if (field === 1) header.seq = value
    else if (field === 3) header.atMs = value
  }
  return true
}
