// A copy of the records of all gates that share a store, in one order and with numbers of its own: a file that
// reads like the ledger of one gate, so that queries, index and exports need not know of several. Derived, and
// no evidence: it may be deleted at any time. Written by the thread that reads the ledger for the console.

import { Buffer } from 'node:buffer'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { readBase } from '../chain/base.ts'
import { listRecordSpans } from '../chain/block.ts'
import { readHead } from '../chain/read.ts'
import { KINDS } from '../records/encoding.ts'
import { LedgerError } from '../records/errors.ts'
import { mergedFile } from '../records/files.ts'
import { header, readHeader } from '../records/header.ts'
import { BLOCK_BYTES_MAX } from '../records/limits.ts'
import { attachNames } from '../records/names.ts'
import { asBuffer } from '../store/as-buffer.ts'
import { HASH_BYTES } from '../store/chain-hash.ts'
import { StoreError } from '../store/errors.ts'
import { storeFault } from '../store/files/faults.ts'
import type { ChainHead } from '../store/postgres/batch.ts'
import type { FollowedRecord } from '../store/postgres/follow-chains.ts'
import { inTransaction } from '../store/sqlite/in-transaction.ts'
import { openDatabase, openReadOnly } from '../store/sqlite/open.ts'
import { prepareAll } from '../store/sqlite/prepare.ts'
import { findMerged } from './origins.ts'

interface OpenCall {
  readonly gate: string
  readonly seq: number
  readonly merged: number
}

const STATEMENTS = {
  block: 'INSERT INTO blocks VALUES (?, ?, ?, ?, ?)',
  chain: 'INSERT OR REPLACE INTO chains VALUES (?, ?, ?)',
  run: 'INSERT INTO runs VALUES (?, ?, ?)',
  open: 'INSERT INTO open_calls VALUES (?, ?, ?)',
  find: 'SELECT merged FROM open_calls WHERE gate = ? AND seq = ?',
  end: 'DELETE FROM open_calls WHERE gate = ? AND seq = ?',
  last: 'SELECT seq FROM chains WHERE gate = ?',
} as const

type Statements = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

export class MergedLedger {
  readonly #database: DatabaseSync
  readonly #directory: string
  readonly #inode: number | undefined
  readonly #statements: Statements

  /** Creates it if it is missing. Throws a StoreError if the directory may not be written. */
  constructor(directory: string) {
    this.#directory = directory
    this.#database = openDatabase(mergedFile(directory))
    this.#inode = readInode(directory)
    this.#statements = prepareAll(this.#database, STATEMENTS)
  }

  /** False if the file was deleted or replaced since it was opened. */
  get isInPlace(): boolean {
    return readInode(this.#directory) === this.#inode
  }

  /** The last record of each gate. */
  get chains(): Map<string, ChainHead> {
    const rows = this.#database.prepare('SELECT gate, seq, hash FROM chains').all()
    return new Map(
      rows.map(({ gate, seq, hash }) => [
        String(gate),
        { seq: Number(seq), hash: asBuffer(hash as Uint8Array).toString('latin1') },
      ]),
    )
  }

  /** All of them or, with a StoreError, none. If a gate has dropped records that are not here, what is before the
   * first one that it has left is removed: it is not complete. */
  append(records: readonly FollowedRecord[]): void {
    this.#commit(() => {
      const writing = new MergedBlocks(this.#statements, readHead(this.#database))
      for (const record of records) writing.add(record)
      writing.end()
      this.#dropUpTo(writing.incomplete)
    })
  }

  /**
   * Removes what a gate has dropped, and what is before it of all gates: the rest is complete. `dropped` is the
   * last record that each gate has dropped.
   */
  drop(dropped: ReadonlyMap<string, number>): void {
    const lasts = [...dropped].map(([gate, seq]) => findMerged(this.#database, gate, seq))
    const through = Math.max(0, ...lasts)
    // Mostly nothing is: no lock is taken for it.
    if (through > readBase(this.#database).seq) this.#commit(() => this.#dropUpTo(through))
  }

  #dropUpTo(through: number): void {
    const database = this.#database
    if (through <= readBase(database).seq) return
    const row = database
      .prepare('SELECT seq, at, data FROM blocks WHERE seq <= ? ORDER BY seq DESC LIMIT 1')
      .get(through) as { seq: number; at: number; data: Uint8Array }
    const block = asBuffer(row.data)
    const spans = listRecordSpans(block)
    const at = through - row.seq
    const { end } = spans[at] as (typeof spans)[number]
    const left = spans.length - at - 1
    database.prepare('DELETE FROM blocks WHERE seq <= ?').run(through)
    // The hash after a record is what the next block begins with.
    if (left > 0)
      this.#statements.block.run(through + 1, left, row.at, through + 1, block.subarray(end))
    const base = block.subarray(end, end + HASH_BYTES)
    database.prepare("INSERT OR REPLACE INTO base VALUES (1, ?, ?, '')").run(through, base)
    database
      .prepare('DELETE FROM runs WHERE first < (SELECT max(first) FROM runs WHERE first <= ?)')
      .run(through + 1)
    database.prepare('DELETE FROM open_calls WHERE merged <= ?').run(through)
  }

  /** The shared store has lost records that are here: starts again. No number is used twice, so that the index
   * and the pages that somebody is reading cannot mistake one record for another. */
  clear(): void {
    const { seq } = readHead(this.#database)
    this.#commit(() => {
      this.#dropUpTo(seq)
      for (const table of ['chains', 'runs', 'open_calls'])
        this.#database.exec(`DELETE FROM ${table}`)
    })
  }

  close(): void {
    this.#database.close()
  }

  #commit(work: () => void): void {
    try {
      inTransaction(this.#database, work)
    } catch (error) {
      throw error instanceof LedgerError ? error : storeFault(error, this.#directory)
    }
  }
}

/** Opens the merged ledger. One that cannot be read, or that a newer version made, is made again. */
export function openMerged(directory: string): MergedLedger {
  try {
    return new MergedLedger(directory)
  } catch (error) {
    const isNewer = error instanceof StoreError && error.code === 'STORE_NEWER'
    if (!isNewer && !isCorrupt(error)) throw error
    removeMerged(directory)
    return new MergedLedger(directory)
  }
}

/** Removes the merged ledger and its index. */
export function removeMerged(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

export function isCorrupt(error: unknown): boolean {
  return storeFault(error, '').code === 'STORE_CORRUPT'
}

function readInode(directory: string): number | undefined {
  return statSync(join(directory, mergedFile(directory).name), { throwIfNoEntry: false })?.ino
}

/** Creates it if it is missing. */
export function openMergedReadOnly(directory: string): DatabaseSync {
  new MergedLedger(directory).close()
  const ledger = openReadOnly(mergedFile(directory))
  attachNames(ledger, directory)
  return ledger
}

/** The blocks that one transaction adds. */
class MergedBlocks {
  readonly #statements: Statements
  readonly #chains = new Map<string, ChainHead>()
  /** Calls of this transaction without an outcome so far, by gate and number. */
  readonly #open = new Map<string, OpenCall>()
  /** The last record that is older than one which a gate has dropped; 0 if there is none. */
  incomplete = 0
  #parts: Buffer[] = []
  #bytes = 0
  #count = 0
  #seq: number
  #hash: string
  #atMs = 0
  #run: { readonly gate: string; readonly next: number } | undefined

  /** Continues after the record `seq`, whose hash is `hash`. */
  constructor(statements: Statements, { seq, hash }: ChainHead) {
    this.#statements = statements
    this.#seq = seq
    this.#hash = hash
  }

  add(record: FollowedRecord): void {
    const { gate, seq, hash } = record
    const last = this.#chains.get(gate) ?? this.#statements.last.get(gate)
    if (Number(last?.seq ?? 0) + 1 !== seq) this.incomplete = this.#seq
    this.#chains.set(gate, { seq, hash })
    const text = this.#renumber(record)
    if (text === undefined) return
    const merged = ++this.#seq
    if (this.#run?.gate !== gate || this.#run.next !== seq)
      this.#statements.run.run(merged, gate, seq)
    this.#run = { gate, next: seq + 1 }
    if (this.#count === 0) this.#push(Buffer.from(this.#hash, 'latin1'))
    const bytes = Buffer.from(text)
    const length = Buffer.allocUnsafe(4)
    length.writeUInt32BE(bytes.length)
    this.#push(length, bytes, Buffer.from(hash, 'latin1'))
    this.#hash = hash
    this.#count++
    if (this.#bytes > BLOCK_BYTES_MAX) this.#store()
  }

  end(): void {
    this.#store()
    for (const { gate, seq, merged } of this.#open.values())
      this.#statements.open.run(gate, seq, merged)
    for (const [gate, { seq, hash }] of this.#chains)
      this.#statements.chain.run(gate, seq, Buffer.from(hash, 'latin1'))
  }

  /** Returns the text of a record with the numbers of the copy; undefined for an outcome whose call is not in
   * it, or has one. */
  #renumber({ gate, seq, text }: FollowedRecord): string | undefined {
    if (!readHeader(Buffer.from(text.slice(0, 128)), 0) || header.seq !== seq)
      throw new LedgerError(
        'LEDGER_BROKEN',
        `record ${seq} of the gate \`${gate}\` is not readable`,
        'see `sluice ledger verify --store`',
      )
    const { kind, intent, end } = header
    const merged = this.#seq + 1
    this.#atMs = Math.max(this.#atMs, header.atMs)
    const start = `[1,${seq}`.length
    const key = `${gate} ${kind === KINDS.outcome ? intent : seq}`
    if (kind === KINDS.intent) this.#open.set(key, { gate, seq, merged })
    if (kind !== KINDS.outcome) return `[1,${merged}${text.slice(start)}`
    const call = this.#endCall(key, gate, intent)
    if (call === undefined) return undefined
    return `[1,${merged}${text.slice(start, end)}${call}${text.slice(end + String(intent).length)}`
  }

  #endCall(key: string, gate: string, intent: number): number | undefined {
    const fresh = this.#open.get(key)
    if (fresh !== undefined) {
      this.#open.delete(key)
      return fresh.merged
    }
    const found = this.#statements.find.get(gate, intent)?.merged
    if (found === undefined) return undefined
    this.#statements.end.run(gate, intent)
    return Number(found)
  }

  #push(...parts: readonly Buffer[]): void {
    for (const part of parts) {
      this.#parts.push(part)
      this.#bytes += part.length
    }
  }

  #store(): void {
    if (this.#count === 0) return
    const first = this.#seq - this.#count + 1
    this.#statements.block.run(first, this.#count, this.#atMs, first, Buffer.concat(this.#parts))
    this.#parts = []
    this.#bytes = 0
    this.#count = 0
    this.#atMs = 0
  }
}
