// Verifies block after block. A consistent block takes the fast path; any other is examined record
// by record, so that one edit is one problem with the right number, whatever was edited: the
// record, its hash, its length, the order, or the columns of the row.

import { hash } from 'node:crypto'
import {
  computeRecordHash,
  getRecordSpanAt,
  hashAfter,
  type RecordSpan,
  recordText,
} from '../chain/block.ts'
import type { Block } from '../chain/read.ts'
import { KINDS } from '../records/encoding.ts'
import { header, readHeader } from '../records/header.ts'
import { PROBLEMS_MAX } from '../records/limits.ts'
import { HASH_BYTES } from '../store/chain-hash.ts'

export interface IntegrityProblem {
  readonly seq: number
  /** `forged`: a checkpoint, or its contents. */
  readonly kind: 'edited' | 'missing' | 'moved' | 'unreadable' | 'forged'
  readonly message: string
}

interface ScannedRecord {
  /** The number in the record itself; undefined if it cannot be read. */
  readonly says: number | undefined
  readonly place: RecordSpan
  readonly stored: string
}

export class Verifier {
  readonly problems: IntegrityProblem[] = []
  records = 0
  #expected: number
  /**
   * The hash stored with the previous record, and the expected hash if that differs; undefined if
   * that record is missing.
   */
  #previous: string | undefined
  #instead: string | undefined
  #lastHash: string
  /** A row that does not match its records: edited, unless records turn out to be missing next. */
  #doubt: IntegrityProblem | undefined

  /** Intents without an outcome so far, in order. */
  readonly #open = new Set<number>()
  readonly #onEvent: (text: string) => void

  /** `onEvent` receives the text of every event in order. */
  constructor(expected: number, previous: string, onEvent: (text: string) => void = () => {}) {
    this.#onEvent = onEvent
    this.#expected = expected
    this.#previous = previous
    this.#lastHash = previous
  }

  get last(): { seq: number; hash: string } {
    return { seq: this.#expected - 1, hash: this.#lastHash }
  }

  report(seq: number, kind: IntegrityProblem['kind'], message: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push({ seq, kind, message })
  }

  missingUntil(seq: number): void {
    this.#doubt = undefined
    const from = this.#expected
    const what = from === seq ? `record ${from} is` : `records ${from} to ${seq} are`
    this.report(from, 'missing', `${what} missing`)
    this.#expected = seq + 1
  }

  /** Reports the deferred problem, if nothing is missing after it. */
  finish(): void {
    if (this.#doubt) this.report(this.#doubt.seq, this.#doubt.kind, this.#doubt.message)
    this.#doubt = undefined
  }

  add(block: Block): void {
    if (!this.#fits(block)) this.#takeApart(block)
    this.#checkOpen(block)
  }

  /**
   * `open` is where the next start looks for calls without an outcome: if it is after one of them,
   * that call would never be marked unknown. In an inconsistent chain, outcomes may be what is
   * missing.
   */
  #checkOpen({ seq, open }: Block): void {
    if (this.problems.length > 0 || this.#doubt !== undefined) return
    const first = this.#open.values().next()
    const latest = first.done ? this.#expected : first.value
    if (open > latest)
      this.report(
        seq,
        'edited',
        `the row of record ${seq} was edited: \`open\` is ${open}, and must be at most ${latest}`,
      )
  }

  #noteOpen(): void {
    if (header.kind === KINDS.intent) this.#open.add(header.seq)
    else if (header.kind === KINDS.outcome) this.#open.delete(header.intent)
  }

  #fits({ seq, count, at, data }: Block): boolean {
    if (seq !== this.#expected || this.#previous === undefined) return false
    this.finish()
    if (data.toString('latin1', 0, HASH_BYTES) !== this.#previous) return false
    let expected = seq
    let latestMs = 0
    let stored = ''
    // By offsets and not by objects: this is the hot loop of a walk over millions of records.
    for (let offset = HASH_BYTES; offset < data.length; expected++) {
      if (offset + 4 > data.length) return false
      const start = offset + 4
      const end = start + data.readUInt32BE(offset)
      if (end + HASH_BYTES > data.length || !readHeader(data, start)) return false
      stored = data.toString('latin1', end, end + HASH_BYTES)
      const bytes = data.subarray(offset - HASH_BYTES, end)
      if (header.seq !== expected || hash('sha256', bytes, 'binary') !== stored) return false
      if (header.atMs > latestMs) latestMs = header.atMs
      this.#noteOpen()
      if (header.kind === KINDS.event) this.#onEvent(recordText(data, { start, end }))
      offset = end + HASH_BYTES
    }
    if (expected - seq !== count || latestMs !== at || count === 0) return false
    this.records += count
    this.#expected = expected
    this.#follow(stored, undefined)
    return true
  }

  #takeApart({ seq, count, at, data }: Block): void {
    const before = this.problems.length
    const records: ScannedRecord[] = []
    let latestMs = 0
    let offset = HASH_BYTES
    for (let place = getRecordSpanAt(data, offset); place; place = getRecordSpanAt(data, offset)) {
      const known = readHeader(data, place.start)
      if (known) {
        latestMs = Math.max(latestMs, header.atMs)
        this.#noteOpen()
      }
      records.push({ says: known ? header.seq : undefined, place, stored: hashAfter(data, place) })
      offset = place.end + HASH_BYTES
    }
    const first = records[0]?.says ?? seq
    if (first === this.#expected) this.finish()
    for (const [index, item] of records.entries()) {
      const next = records[index + 1]
      this.#check(item, data, next === undefined ? seq + count : next.says)
    }
    if (offset !== data.length) this.#unreadable(seq + count)
    if (this.problems.length > before) return
    const leads =
      records[0] !== undefined && computeRecordHash(data, records[0].place) === records[0].stored
    if (!leads || first !== seq || records.length !== count || latestMs !== at)
      this.#doubt = {
        seq: first,
        kind: 'edited',
        message: `the row of record ${first} was edited`,
      }
  }

  /** `next` is the number in the record after it. */
  #check({ says, place, stored }: ScannedRecord, data: Buffer, next: number | undefined): void {
    this.records++
    const seq = this.#expected
    if (says !== undefined && says !== seq) return this.#misplaced(says, stored, next)
    const should = this.#previous === undefined ? stored : after(this.#previous, data, place)
    const fits =
      should === stored ||
      (this.#instead !== undefined && after(this.#instead, data, place) === stored)
    if (!fits) this.report(seq, 'edited', `record ${seq} was edited, or its hash`)
    this.#expected = seq + 1
    this.#follow(stored, should === stored ? undefined : should)
  }

  /**
   * Moved, or the record before it was removed, or its number was edited: the next record decides.
   */
  #misplaced(says: number, stored: string, next: number | undefined): void {
    const seq = this.#expected
    if (next === seq + 1) {
      this.report(seq, 'moved', `record ${says} is at the position of record ${seq}`)
      this.#expected = seq + 1
    } else if (says > seq) {
      this.missingUntil(says - 1)
      this.#expected = says + 1
    } else return this.report(says, 'moved', `record ${says} appears a second time`)
    this.#follow(stored, undefined)
    this.#previous = undefined
  }

  #follow(stored: string, instead: string | undefined): void {
    this.#previous = stored
    this.#lastHash = stored
    this.#instead = instead
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

function after(previous: string, data: Buffer, { start, end }: RecordSpan): string {
  const bytes = Buffer.from(data.subarray(start - 4 - HASH_BYTES, end))
  bytes.write(previous, 0, 'latin1')
  return hash('sha256', bytes, 'binary')
}
