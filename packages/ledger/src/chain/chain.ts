// Appends to the chain: one transaction per batch, all of it or nothing. Knows the committed head;
// after a failure the head is read again before anything is written. Called by the ledger, which
// handles failures.

import { Buffer } from 'node:buffer'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { encode, toRecordText, wallTime } from '../records/encoding.ts'
import { ledgerFile } from '../records/files.ts'
import type { EntryHider } from '../records/hide-entry.ts'
import { ANCHOR_EVERY_MS, BLOCK_BYTES_MAX, DROPPED_BLOCKS_PER_TURN } from '../records/limits.ts'
import type { LedgerEntry } from '../records/record.ts'
import { StoreError } from '../store/errors.ts'
import { storeFault } from '../store/files/faults.ts'
import { openDatabase, overwriteDeleted, type Sync } from '../store/sqlite/open.ts'
import { BlockWriter } from './block.ts'
import { type Checkpoint, checkpointText } from './checkpoint.ts'
import { type Head, readHead } from './read.ts'

/** A record of a shared store: its bytes are copied as they are. */
export interface EncodedRecord {
  readonly kind: 'encoded'
  readonly text: string
  readonly atMs: number
}

/** The sequence number of each entry, or why it cannot be stored. */
export type AppendResult = readonly (number | Error)[]

export class Chain {
  readonly database: DatabaseSync
  readonly #file: string
  readonly #hider: EntryHider | undefined
  readonly #inode: number
  readonly #block = new BlockWriter()
  readonly #insert: StatementSync
  readonly #anchor: StatementSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  #drop: StatementSync | undefined
  #head: Head
  #fresh: readonly string[] = []
  #certain = true
  /**
   * `open` of the last block that another process wrote, or of a commit that failed and is stored
   * after all.
   */
  #openMax = Number.POSITIVE_INFINITY
  #anchored: { seq: number; atMs: number }

  constructor(directory: string, sync: Sync, hider?: EntryHider) {
    this.#hider = hider
    const options = ledgerFile(directory)
    this.#file = join(directory, options.name)
    this.database = openDatabase({ ...options, sync })
    this.#inode = statSync(this.#file).ino
    this.#insert = this.database.prepare('INSERT INTO blocks VALUES (?, ?, ?, ?, ?)')
    this.#anchor = this.database.prepare('INSERT OR IGNORE INTO anchors VALUES (?, ?, ?)')
    this.#begin = this.database.prepare('BEGIN IMMEDIATE')
    this.#commit = this.database.prepare('COMMIT')
    this.#head = readHead(this.database)
    this.#anchored = { seq: 0, atMs: 0 }
  }

  get file(): string {
    return this.#file
  }

  get head(): Head {
    return this.#head
  }

  /** The hash after each record of the last `append`. */
  get fresh(): readonly string[] {
    return this.#fresh
  }

  /**
   * Durable when it returns; throws a StoreError if nothing was stored. `open` is the first record
   * that may be an intent without outcome.
   */
  append(
    entries: readonly (LedgerEntry | EncodedRecord)[],
    open: number,
    nowMs: number,
  ): AppendResult {
    try {
      if (!this.#certain) this.#recover()
      const anchorDue =
        nowMs - this.#anchored.atMs >= ANCHOR_EVERY_MS || nowMs < this.#anchored.atMs
      if (anchorDue) this.#checkUnmoved()
      // A single row is its own transaction, and a cheaper one.
      if (anchorDue) this.#begin.run()
      const { appended, hashes, head } = this.#write(entries, Math.min(open, this.#openMax))
      if (anchorDue && head.seq > 0)
        this.#anchor.run(head.seq, nowMs, Buffer.from(head.hash, 'latin1'))
      if (this.database.isTransaction) this.#commit.run()
      this.#head = head
      this.#fresh = hashes
      if (anchorDue) this.#anchored = { seq: head.seq, atMs: nowMs }
      return appended
    } catch (error) {
      this.#certain = false
      this.#rollback()
      throw isTaken(error) ? secondWriter(this.#file) : storeFault(error, this.#file)
    }
  }

  #write(entries: readonly (LedgerEntry | EncodedRecord)[], open: number) {
    const block = this.#block
    const appended: (number | Error)[] = []
    const hashes: string[] = []
    let { seq } = this.#head
    let latestMs = 0
    block.begin(this.#head.hash)
    const store = () => {
      if (block.count > 0)
        this.#insert.run(seq - block.count + 1, block.count, latestMs, open, block.data)
    }
    for (const entry of entries) {
      try {
        block.append(this.#encode(entry, seq + 1))
      } catch (error) {
        appended.push(error as Error)
        continue
      }
      appended.push(++seq)
      hashes.push(block.hash)
      latestMs = Math.max(latestMs, wallTime(entry.atMs))
      if (block.bytes > BLOCK_BYTES_MAX) {
        if (!this.database.isTransaction) this.#begin.run()
        store()
        latestMs = 0
        block.begin(block.hash)
      }
    }
    store()
    return { appended, hashes, head: { seq, hash: block.hash, open } }
  }

  #encode(entry: LedgerEntry | EncodedRecord, seq: number): string {
    if (entry.kind === 'encoded') return entry.text
    const hider = this.#hider
    return hider === undefined ? encode(entry, seq) : toRecordText(seq, hider.encode(entry))
  }

  /** From now on the chain starts after this checkpoint; `dropSome` frees the space. */
  begin(checkpoint: Checkpoint): void {
    const { seq, head } = checkpoint
    this.#begin.run()
    try {
      this.database
        .prepare('INSERT OR REPLACE INTO base VALUES (1, ?, ?, ?)')
        .run(seq, Buffer.from(head, 'hex'), checkpointText(checkpoint))
      this.database.prepare('DELETE FROM anchors WHERE seq < ?').run(seq)
      this.#commit.run()
      // Of a chain without records it is the start.
      if (this.#head.seq < seq) this.#head = readHead(this.database)
    } catch (error) {
      this.#rollback()
      throw storeFault(error, this.#file)
    }
  }

  /** Removes some of what is before the start; false when nothing is left. */
  dropSome(): boolean {
    this.#drop ??= this.database.prepare(
      `DELETE FROM blocks WHERE seq IN (SELECT seq FROM blocks
        WHERE seq <= (SELECT seq FROM base) ORDER BY seq LIMIT ${DROPPED_BLOCKS_PER_TURN})`,
    )
    try {
      return Number(this.#drop.run().changes) > 0
    } catch (error) {
      throw storeFault(error, this.#file)
    }
  }

  /** Empties the write-ahead log, where rows are that were deleted in the database. A reader may keep it: then the next
   * run does. */
  eraseDropped(): void {
    overwriteDeleted(this.database)
  }

  /** Stores the head next to the chain, so that a missing end is detected. */
  close(nowMs: number): void {
    try {
      const { seq, hash } = this.#head
      if (this.#certain && seq > this.#anchored.seq)
        this.#anchor.run(seq, nowMs, Buffer.from(hash, 'latin1'))
    } catch {
      // The records are committed; a missing anchor is no reason not to close.
    }
    this.#rollback()
    this.database.close()
  }

  /** Reads the head again: after a failed commit only the file knows what it contains. */
  #recover(): void {
    this.#rollback()
    this.#checkUnmoved()
    const head = readHead(this.database)
    // Records unknown to this process may be calls without an outcome: the next start checks them.
    if (head.seq !== this.#head.seq) this.#openMax = Math.min(this.#openMax, head.open)
    this.#head = head
    this.#certain = true
  }

  #rollback(): void {
    try {
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
    } catch {
      // SQLite rolls back automatically if it cannot be asked to.
    }
  }

  /** Writes to a removed file would succeed, and the records would be lost. */
  #checkUnmoved(): void {
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode) return
    throw new StoreError(
      'STORE_MISSING',
      `\`${this.#file}\` was moved or removed while it was being written`,
      'put it back, or start again for a new one',
    )
  }
}

/** The next sequence number is taken by another writer of this ledger. The chain cannot fork. */
function isTaken(error: unknown): boolean {
  return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === 19
}

function secondWriter(file: string): StoreError {
  return new StoreError(
    'STORE_LOCKED',
    `another process has written to \`${file}\``,
    'end it: one process owns a data directory',
  )
}
