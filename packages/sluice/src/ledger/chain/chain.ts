// Appends to the chain: one transaction for a batch, all of it or nothing. Knows the head that is
// committed; after a failure the head is read again before anything is written. Called by the
// ledger, which decides what to do about failures.

import { Buffer } from 'node:buffer'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { StoreError } from '../../store/errors.ts'
import { storeFault } from '../../store/files/faults.ts'
import { openDatabase, type Sync } from '../../store/sqlite/open.ts'
import { encode, wallTime } from '../records/encoding.ts'
import { ledgerFile } from '../records/files.ts'
import { ANCHOR_EVERY_MS, BLOCK_BYTES_MAX, DROPPED_BLOCKS_PER_TURN } from '../records/limits.ts'
import type { LedgerEntry } from '../records/record.ts'
import { BlockWriter } from './block.ts'
import { type Checkpoint, checkpointText } from './checkpoint.ts'
import { type Head, readHead } from './read.ts'

/** The sequence number of each entry, or why it cannot be kept as it is. */
export type AppendResult = readonly (number | Error)[]

export class Chain {
  readonly database: DatabaseSync
  readonly #file: string
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
  /** `open` of the last block that was found to be somebody else's, or of a commit that failed and is there. */
  #openMax = Number.POSITIVE_INFINITY
  #anchored: { seq: number; atMs: number }

  constructor(directory: string, sync: Sync) {
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

  /** Durable when it returns; throws a StoreError where nothing was kept. `open` is the first
   * record that may be an intent without outcome. */
  append(entries: readonly LedgerEntry[], open: number, nowMs: number): AppendResult {
    try {
      if (!this.#certain) this.#recover()
      const anchorDue =
        nowMs - this.#anchored.atMs >= ANCHOR_EVERY_MS || nowMs < this.#anchored.atMs
      if (anchorDue) this.#checkUnmoved()
      // A single row is a transaction by itself, and a cheaper one.
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

  #write(entries: readonly LedgerEntry[], open: number) {
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
        block.append(encode(entry, seq + 1))
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

  /** From here on the chain begins behind this checkpoint; `dropSome` makes the room. */
  begin(checkpoint: Checkpoint): void {
    const { seq, head } = checkpoint
    this.#begin.run()
    try {
      this.database
        .prepare('INSERT OR REPLACE INTO base VALUES (1, ?, ?, ?)')
        .run(seq, Buffer.from(head, 'hex'), checkpointText(checkpoint))
      this.database.prepare('DELETE FROM anchors WHERE seq < ?').run(seq)
      this.#commit.run()
    } catch (error) {
      this.#rollback()
      throw storeFault(error, this.#file)
    }
  }

  /** Removes some of what lies before the beginning; false when there is nothing left of it. */
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

  /** Notes the head beside the chain, so that a missing end is seen. */
  close(nowMs: number): void {
    try {
      const { seq, hash } = this.#head
      if (this.#certain && seq > this.#anchored.seq)
        this.#anchor.run(seq, nowMs, Buffer.from(hash, 'latin1'))
    } catch {
      // What matters is committed; a note that cannot be made is no reason not to end.
    }
    this.#rollback()
    this.database.close()
  }

  /** After a failed commit nobody knows what the file holds but the file. */
  #recover(): void {
    this.#rollback()
    this.#checkUnmoved()
    const head = readHead(this.database)
    // Records that this process does not know of may be calls without an outcome: the next start looks.
    if (head.seq !== this.#head.seq) this.#openMax = Math.min(this.#openMax, head.open)
    this.#head = head
    this.#certain = true
  }

  #rollback(): void {
    try {
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
    } catch {
      // SQLite rolls back by itself where it cannot be asked to.
    }
  }

  /** A removed file could be written to for ever, and nobody would find the record. */
  #checkUnmoved(): void {
    if (statSync(this.#file, { throwIfNoEntry: false })?.ino === this.#inode) return
    throw new StoreError(
      'STORE_MISSING',
      `\`${this.#file}\` was moved or removed while it was being written`,
      'put it back, or start again for a new one',
    )
  }
}

/** The next number was taken: by whoever else writes to this ledger. The chain cannot fork. */
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
