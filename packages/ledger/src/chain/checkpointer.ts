// Creates checkpoints of a ledger while it is written: every N records, after a delay if fewer
// were written, and at the end. The tree grows a few records per turn, so that no call waits for it. What a
// checkpoint covers is on disk before the checkpoint is written. Called by the ledger after
// commits.

import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { LedgerError } from '../records/errors.ts'
import { CHECKPOINTS_FILE } from '../records/files.ts'
import {
  CHECKPOINT_EVERY_MS,
  CHECKPOINT_EVERY_RECORDS,
  TREE_HASHES_HELD_MAX,
  TREE_RECORDS_PER_TURN,
} from '../records/limits.ts'
import { asBuffer } from '../store/as-buffer.ts'
import { toHex } from '../store/chain-hash.ts'
import { readBase, readBaseCheckpoint } from './base.ts'
import { eachHash } from './block.ts'
import { type Checkpoint, findCheckpointFault, makeCheckpoint, type Signer } from './checkpoint.ts'
import {
  appendCheckpoint,
  lastCheckpoint,
  thinCheckpoints,
  truncatePartialLine,
} from './checkpoint-file.ts'
import { hashAt, readHead } from './read.ts'
import { RecordTree } from './record-tree.ts'

export interface CheckpointOptions {
  readonly signer: Signer
  /** Records between two checkpoints. */
  readonly every?: number
  /** Called once it is stored next to the ledger: for a remote checkpoint store. */
  readonly onCheckpoint?: (checkpoint: Checkpoint) => void
  readonly onFault?: (error: Error) => void
}

const flush = promisify(fdatasync)

/** The hash after each record of one commit, and the number of the first. */
interface CommittedHashes {
  readonly first: number
  readonly hashes: readonly string[]
}

export class Checkpointer {
  readonly #database: DatabaseSync
  readonly #file: string
  readonly #wal: string
  readonly #options: CheckpointOptions
  readonly #now: () => number
  readonly #blocks: StatementSync
  readonly #timer: NodeJS.Timeout
  readonly #tree: RecordTree
  /** Committed hashes that are not in the tree yet, as far as they need not be read. */
  #committed: CommittedHashes[] = []
  #bufferedRecords = 0
  /** The hash after the last record in the tree. */
  #hash: string
  #due: number
  #last: number
  #busy = false
  #closed = false

  /** Throws a LedgerError if the ledger is not the one that the last checkpoint covers. */
  constructor(
    directory: string,
    database: DatabaseSync,
    options: CheckpointOptions,
    now: () => number,
  ) {
    this.#database = database
    this.#file = join(directory, CHECKPOINTS_FILE)
    this.#wal = join(directory, 'ledger.db-wal')
    this.#options = options
    this.#now = now
    this.#blocks = database.prepare('SELECT seq, data FROM blocks WHERE seq > ? ORDER BY seq')
    truncatePartialLine(this.#file)
    thinCheckpoints(this.#file)
    const last = checkLast(directory, database)
    const base = readBase(database)
    // A checkpoint of another signer may have any peaks: the tree is then rebuilt.
    const own =
      last && findCheckpointFault(last, options.signer.publicKey) === undefined ? last : undefined
    this.#tree = RecordTree.continue(own ?? readBaseCheckpoint(base))
    this.#hash = own ? (hashAt(database, own.seq) as string) : base.hash
    this.#last = own?.seq ?? 0
    // The first checkpoint follows the first record of this run.
    this.#due = readHead(database).seq + 1
    this.#timer = setInterval(() => this.#look(), CHECKPOINT_EVERY_MS)
    this.#timer.unref()
  }

  /**
   * Called after a commit, with the hash after each of its records: the only work on the path of a
   * call.
   */
  committed(seq: number, hashes: readonly string[]): void {
    if (this.#bufferedRecords > TREE_HASHES_HELD_MAX) this.#forget()
    this.#committed.push({ first: seq - hashes.length + 1, hashes })
    this.#bufferedRecords += hashes.length
    if (seq >= this.#due) this.#take(seq)
  }

  /** Creates the last checkpoint, over everything that was written. */
  close(): void {
    this.stop()
    try {
      const { seq } = readHead(this.#database)
      if (seq <= this.#last) return
      while (this.#tree.seq < seq) this.#grow(seq)
      const handle = this.#openWal()
      if (handle !== undefined) {
        fdatasyncSync(handle)
        closeSync(handle)
      }
      this.#write(seq)
    } catch (error) {
      this.#options.onFault?.(error as Error)
    }
  }

  /** Stops without a last checkpoint, because the ledger did not open. */
  stop(): void {
    clearInterval(this.#timer)
    this.#closed = true
  }

  #look(): void {
    try {
      this.#take(readHead(this.#database).seq)
    } catch (error) {
      this.#failed(error as Error)
    }
  }

  #take(seq: number): void {
    if (this.#busy || this.#closed || seq <= this.#last) return
    this.#busy = true
    this.#due = seq + (this.#options.every ?? CHECKPOINT_EVERY_RECORDS)
    setImmediate(() => this.#step(seq))
  }

  #step(seq: number): void {
    if (this.#closed) return
    try {
      this.#grow(seq)
    } catch (error) {
      return this.#failed(error as Error)
    }
    if (this.#tree.seq < seq) setImmediate(() => this.#step(seq))
    else void this.#finish(seq).catch((error: Error) => this.#failed(error))
  }

  async #finish(seq: number): Promise<void> {
    const handle = this.#openWal()
    if (handle !== undefined) await flush(handle).finally(() => closeSync(handle))
    // It may have been closed meanwhile, with a later checkpoint.
    if (this.#closed) return
    this.#write(seq)
    this.#busy = false
  }

  /** Adds the next records to the tree; `seq` is the end of a block. */
  #grow(seq: number): void {
    const from = this.#tree.seq
    if (this.#growFromMemory(seq)) return
    // One at a time: blocks of a busy gate are large, and one turn takes few of them.
    for (const row of this.#blocks.iterate(from)) {
      if (Number(row.seq) !== this.#tree.seq + 1) break
      eachHash(asBuffer(row.data as Uint8Array), (hash) => this.#add(hash))
      if (this.#tree.seq >= seq || this.#tree.seq - from >= TREE_RECORDS_PER_TURN) return
    }
    if (this.#tree.seq === from)
      throw new LedgerError('LEDGER_BROKEN', `record ${from + 1} is missing`, SEE_VERIFY)
  }

  /** Grows the tree. Returns false if the next hashes are not in memory, and have to be read. */
  #growFromMemory(seq: number): boolean {
    const from = this.#tree.seq
    for (let batch = this.#committed[0]; batch !== undefined; batch = this.#committed[0]) {
      const { first, hashes } = batch
      const isNext = first <= this.#tree.seq + 1 && first <= seq
      if (!isNext || this.#tree.seq - from >= TREE_RECORDS_PER_TURN) break
      // Some of them may have been read.
      for (let at = this.#tree.seq + 1 - first; at < hashes.length; at++)
        this.#add(hashes[at] as string)
      this.#committed.shift()
      this.#bufferedRecords -= hashes.length
    }
    return this.#tree.seq > from
  }

  #forget(): void {
    this.#committed = []
    this.#bufferedRecords = 0
  }

  #add(hash: string): void {
    this.#tree.add(hash)
    this.#hash = hash
  }

  #write(seq: number): void {
    const parts = { tree: this.#tree, head: this.#hash, nowMs: this.#now() }
    const checkpoint = makeCheckpoint(parts, this.#options.signer)
    appendCheckpoint(this.#file, checkpoint)
    this.#last = seq
    this.#options.onCheckpoint?.(checkpoint)
  }

  /** SQLite does not lock this file, and loses no lock when it is closed. */
  #openWal(): number | undefined {
    try {
      return openSync(this.#wal, 'r')
    } catch {
      // Everything is in the database, which SQLite has flushed.
      return undefined
    }
  }

  #failed(error: Error): void {
    this.#busy = false
    this.#options.onFault?.(error)
  }
}

const SEE_VERIFY = '`sluice ledger verify` shows all of it'

/**
 * Whether the ledger still contains what the last checkpoint next to it covers: if not, the end was
 * truncated. Checked at every start.
 */
export function checkLast(directory: string, database: DatabaseSync): Checkpoint | undefined {
  const placed = lastCheckpoint(join(directory, CHECKPOINTS_FILE))
  if (placed === undefined) return undefined
  checkAgainst(database, placed.checkpoint, placed.where)
  return placed.checkpoint
}

export function checkAgainst(database: DatabaseSync, checkpoint: Checkpoint, where: string): void {
  const fault = findCheckpointFault(checkpoint, undefined)
  if (fault !== undefined)
    throw new LedgerError('LEDGER_CHECKPOINT', `the checkpoint ${where}: ${fault}`, SEE_VERIFY)
  const { seq, head } = checkpoint
  const hash = hashAt(database, seq)
  if (hash !== undefined && toHex(hash) === head) return
  if (seq < readBase(database).seq) return
  const what =
    hash === undefined
      ? `the ledger ends before record ${seq}`
      : `record ${seq} of the ledger is another`
  throw new LedgerError(
    'LEDGER_BROKEN',
    `${what}, which the checkpoint ${where} speaks of`,
    `${SEE_VERIFY}; keep the files, and move \`ledger.db\` and \`${CHECKPOINTS_FILE}\` away to begin a new one`,
  )
}
