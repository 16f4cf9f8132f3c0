// The append-only audit log of every call. Entries of one turn of the event loop are committed in
// one transaction (group commit); an intent's promise resolves when it is durable, outcomes join
// the next commit. While writing fails nothing is promised: intents are refused immediately, and
// the ledger retries automatically. Called by the gate before a call is forwarded and after it was
// answered.

import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { readBase } from './chain/base.ts'
import { type AppendResult, Chain } from './chain/chain.ts'
import { Checkpointer, type CheckpointOptions, checkLast } from './chain/checkpointer.ts'
import { toCopiedRecords } from './chain/copied-records.ts'
import { type Reserve, ReserveFile } from './chain/reserve.ts'
import { findDrop, type RetentionLimits } from './chain/retention.ts'
import { LedgerError } from './records/errors.ts'
import { CHECKPOINTS_FILE } from './records/files.ts'
import type { EntryHider } from './records/hide-entry.ts'
import {
  KEPT_OUTCOMES_MAX,
  OUTCOME_DELAY_MS_MAX,
  PENDING_RECORDS_MAX,
  RETRY_MS_MAX,
  RETRY_MS_MIN,
} from './records/limits.ts'
import {
  type DecisionEntry,
  type GateEvent,
  type LedgerEntry,
  type OutcomeInput,
  outcomeEntry,
} from './records/record.ts'
import type { SharedLog } from './shared-log.ts'
import { toHex } from './store/chain-hash.ts'
import type { StoreError } from './store/errors.ts'
import { storeFault } from './store/files/faults.ts'
import type { Sync } from './store/sqlite/open.ts'
import { checkTail, findOpen } from './verify/recover.ts'
import { RETENTION_EVENT } from './verify/verify-checkpoints.ts'

/**
 * `reserve`: the disk is full, no call is forwarded, but denials, events and outcomes are still
 * written. `failing`: nothing can be written. Both end automatically.
 */
export type LedgerState = 'writing' | 'reserve' | 'failing' | 'closed'

export interface LedgerOptions {
  readonly directory: string
  readonly sync?: Sync
  /** Wall time, for what the ledger itself writes. */
  readonly now?: () => number
  readonly onState?: (state: LedgerState, fault: StoreError | undefined) => void
  /** Released when the disk is full; by default a file next to the ledger. */
  readonly reserve?: (database: DatabaseSync) => Reserve
  /** Signed checkpoints; none are created without it. */
  readonly checkpoints?: CheckpointOptions
  /** Records go there, and this directory has a copy of this gate's chain, see `copy`. */
  readonly shared?: SharedLog
  /** Hides what may be about a person. Without it, records have entries as they are: only tests do that. */
  readonly hider?: EntryHider
}

interface QueuedEntry {
  readonly entry: LedgerEntry
  readonly resolve?: WriteListener
  readonly reject?: WriteErrorListener
}

/** Called when a record is durable, with its number, or with the reason if it is not. */
type WriteListener = (seq: number) => void
type WriteErrorListener = (error: Error) => void

export class Ledger {
  readonly #chain: Chain
  readonly #now: () => number
  readonly #reserve: Reserve
  readonly #options: LedgerOptions
  readonly #open = new Set<number>()
  #waiting: QueuedEntry[] = []
  #queue: QueuedEntry[] = []
  #state: LedgerState = 'writing'
  #fault: StoreError | undefined
  #turn: NodeJS.Immediate | undefined
  #soon: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  #pauseMs = RETRY_MS_MIN
  #commits = 0
  #checkpointer: Checkpointer | undefined
  #retaining = false
  #lost = { refusals: 0, events: 0, outcomes: 0 }

  private constructor(options: LedgerOptions) {
    this.#chain = new Chain(options.directory, options.sync ?? 'normal', options.hider)
    this.#now = options.now ?? Date.now
    this.#options = options
    this.#reserve = options.reserve?.(this.#chain.database) ?? new ReserveFile(options.directory)
  }

  /**
   * Throws a StoreError if the file cannot be opened, a LedgerError if its end is inconsistent.
   * Calls that an earlier run left open are marked unknown.
   */
  static open(options: LedgerOptions): Ledger {
    const ledger = new Ledger(options)
    try {
      ledger.#start()
      return ledger
    } catch (error) {
      ledger.#checkpointer?.stop()
      ledger.#chain.database.close()
      throw error
    }
  }

  get state(): LedgerState {
    return this.#options.shared?.state ?? this.#state
  }

  /** Why it is not `writing`. */
  get fault(): StoreError | undefined {
    return this.#options.shared?.fault ?? this.#fault
  }

  /** Figures for metrics: commits so far, the last record, calls without outcome, buffered outcomes. */
  get figures(): { commits: number; seq: number; open: number; kept: number } {
    const { seq } = this.#chain.head
    const { shared } = this.#options
    if (shared !== undefined) return { ...shared.figures, seq }
    return { commits: this.#commits, seq, open: this.#open.size, kept: this.#queue.length }
  }

  /** The last record, and the hash after it (hex). */
  get head(): { seq: number; hash: string } {
    const { seq, hash } = this.#chain.head
    return { seq, hash: toHex(hash) }
  }

  /** The digest of arguments as records have it; `digest` is the plain one, which records of older versions have. */
  keyDigest(digest: string): string {
    return this.#options.hider?.keyDigest(digest) ?? digest
  }

  /** Resolves with the record's number once it is durable. If it rejects, forward nothing. */
  intent(entry: DecisionEntry): Promise<number> {
    if (this.#state !== 'writing') return Promise.reject(this.#unavailable())
    return this.#promise({ ...entry, kind: 'intent' })
  }

  /** A call that is not forwarded: denied, limited, pending approval. */
  refuse(entry: DecisionEntry): Promise<number> {
    return this.#promise({ ...entry, kind: 'refusal' })
  }

  event(event: GateEvent, isFirst = false): Promise<number> {
    return this.#promise({ ...event, kind: 'event' }, isFirst)
  }

  /** Joins the next commit; not awaited. */
  outcome(intent: number, outcome: OutcomeInput): void {
    const waiting: QueuedEntry = { entry: outcomeEntry(intent, outcome) }
    if (this.#state === 'closed') return
    if (this.#options.shared) return void this.#promise(waiting.entry).catch(() => {})
    if (this.#state === 'failing') return this.#keep(waiting)
    this.#waiting.push(waiting)
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#flush()
    }, OUTCOME_DELAY_MS_MAX)
  }

  /** Adds records that are durable in the shared store to the copy. A copy that cannot be written has no
   * gap: it goes on after a restart. */
  copy(texts: readonly string[]): void {
    if (this.#state !== 'writing') return
    try {
      const records = toCopiedRecords(texts)
      this.#chain.append(records, this.#openFrom, this.#now())
      for (const { begins, ends } of records) {
        if (begins !== undefined) this.#open.add(begins)
        if (ends !== undefined) this.#open.delete(ends)
      }
      this.#checkpointer?.committed(this.#chain.head.seq, this.#chain.fresh)
    } catch (error) {
      this.#become('failing', error as StoreError)
    }
  }

  /**
   * Drops records beyond the configured age or size, up to a signed checkpoint that replaces them,
   * a few at a time. The event is recorded first. Resolves with the number of dropped records.
   */
  async retain(keep: RetentionLimits, neededSinceMs: number, nowMs = this.#now()): Promise<number> {
    const { directory, checkpoints, shared } = this.#options
    if (checkpoints === undefined || this.state !== 'writing' || this.#retaining) return 0
    this.#retaining = true
    try {
      const { database } = this.#chain
      const options = { keep, nowMs, neededSinceMs, key: checkpoints.signer.publicKey }
      const found = findDrop(database, join(directory, CHECKPOINTS_FILE), options)
      const before = readBase(database).seq
      if (found !== undefined) {
        const { seq: through, head } = found
        const detail = { through, head, records: through - before }
        await this.event({ atMs: this.#now(), name: RETENTION_EVENT, detail })
        await shared?.beginAfter(found)
        if (!this.#isOpen) return 0
        this.#chain.begin(found)
      }
      await shared?.dropRest()
      // Includes what an earlier run left because of a crash.
      let hasDropped = false
      while (this.#isOpen && this.#chain.dropSome()) {
        hasDropped = true
        await new Promise((resolve) => setImmediate(resolve))
      }
      if (hasDropped) this.#chain.eraseDropped()
      return found === undefined ? 0 : found.seq - before
    } finally {
      this.#retaining = false
    }
  }

  /** The first record that may be an intent without outcome. */
  get #openFrom(): number {
    return this.#open.values().next().value ?? this.#chain.head.seq + 1
  }

  get #isOpen(): boolean {
    return this.#state !== 'closed'
  }

  /** Writes what is queued, and closes. */
  close(): void {
    if (this.#state === 'closed') return
    this.#flush()
    clearImmediate(this.#turn)
    clearTimeout(this.#soon)
    clearTimeout(this.#retry)
    this.#become('closed', undefined)
    this.#checkpointer?.close()
    this.#chain.close(this.#now())
  }

  #start(): void {
    const { directory, checkpoints, shared } = this.#options
    const { database } = this.#chain
    // A new directory: the copy starts where the chain in the shared store does.
    if (shared?.base !== undefined && this.#chain.head.seq === 0) this.#chain.begin(shared.base)
    checkTail(database)
    if (checkpoints)
      this.#checkpointer = new Checkpointer(directory, database, checkpoints, this.#now)
    else checkLast(directory, database)
    const open = findOpen(this.#chain.database, this.#chain.head)
    for (const seq of open) this.#open.add(seq)
    if (shared) return
    const atMs = this.#now()
    for (const intent of open)
      this.#waiting.push({
        entry: outcomeEntry(intent, { atMs, status: 'unknown' }),
      })
    if (open.length > 0) this.#note('recovery', { unknown: open.length })
    if (!this.#reserve.fill()) {
      this.#become('reserve', storeFault(NO_RESERVE, this.#chain.file))
      this.#later()
    }
    this.#flush()
  }

  #promise(entry: LedgerEntry, isFirst = false): Promise<number> {
    if (this.#options.shared) return this.#options.shared.append(entry, isFirst)
    return new Promise((resolve, reject) => this.#append(entry, resolve, reject))
  }

  #append(entry: LedgerEntry, resolve: WriteListener, reject: WriteErrorListener): void {
    if (this.#state === 'failing' || this.#state === 'closed') {
      this.#lose(entry)
      return reject(this.#unavailable())
    }
    if (this.#waiting.length >= PENDING_RECORDS_MAX) return reject(tooMany())
    this.#waiting.push({ entry, resolve, reject })
    // Not a microtask: those run between two callbacks of one turn, and would group nothing.
    this.#turn ??= setImmediate(() => this.#flush())
  }

  #flush(): void {
    clearImmediate(this.#turn)
    this.#turn = undefined
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    this.#waiting = []
    this.#commit(batch)
  }

  #commit(batch: readonly QueuedEntry[]): boolean {
    let appended: AppendResult
    try {
      const entries = batch.map(({ entry }) => entry)
      appended = this.#chain.append(entries, this.#openFrom, this.#now())
    } catch (error) {
      this.#failed(batch, error as StoreError)
      return false
    }
    this.#commits++
    this.#checkpointer?.committed(this.#chain.head.seq, this.#chain.fresh)
    for (const [index, { entry, resolve, reject }] of batch.entries()) {
      const seq = appended[index] as number | Error
      if (typeof seq !== 'number') {
        reject?.(seq)
        // The call has ended, even if its outcome could not be stored in full.
        if (entry.kind === 'outcome')
          this.outcome(entry.intent, { atMs: entry.atMs, status: entry.status })
        continue
      }
      if (entry.kind === 'intent') this.#open.add(seq)
      else if (entry.kind === 'outcome') this.#open.delete(entry.intent)
      resolve?.(seq)
    }
    return true
  }

  #failed(batch: readonly QueuedEntry[], fault: StoreError): void {
    const reserved = fault.code === 'STORE_FULL' && this.#state === 'writing'
    this.#become(reserved ? 'reserve' : 'failing', fault)
    const refused = reserved
      ? batch.filter(({ entry }) => entry.kind === 'intent')
      : batch.filter((waiting) => waiting.entry.kind !== 'outcome')
    for (const { entry, reject } of refused) {
      if (!reserved && reject) this.#lose(entry)
      reject?.(this.#unavailable())
    }
    this.#later()
    if (!reserved) {
      for (const waiting of batch) if (waiting.entry.kind === 'outcome') this.#keep(waiting)
      return
    }
    this.#reserve.release()
    this.#waiting = batch.filter(({ entry }) => entry.kind !== 'intent')
    this.#note('ledger-reserve', { why: fault.message })
    this.#flush()
  }

  #later(): void {
    if (this.#retry !== undefined) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#tryAgain()
    }, this.#pauseMs)
    this.#retry.unref()
    this.#pauseMs = Math.min(RETRY_MS_MAX, this.#pauseMs * 2)
  }

  #tryAgain(): void {
    const since = this.#fault
    if (this.#state === 'failing') {
      const entries = this.#queue
      this.#queue = []
      const event: GateEvent = {
        atMs: this.#now(),
        name: 'ledger-recovery',
        detail: { why: since?.message ?? '', notRecorded: { ...this.#lost } },
      }
      if (!this.#commit([...entries, { entry: { ...event, kind: 'event' } }])) return
      this.#lost = { refusals: 0, events: 0, outcomes: 0 }
      this.#become('reserve', since)
    }
    if (!this.#reserve.fill()) return this.#later()
    this.#pauseMs = RETRY_MS_MIN
    this.#become('writing', undefined)
  }

  #keep(waiting: QueuedEntry): void {
    if (this.#queue.length < KEPT_OUTCOMES_MAX) this.#queue.push(waiting)
    else this.#lost.outcomes++
  }

  #lose(entry: LedgerEntry): void {
    if (entry.kind === 'refusal') this.#lost.refusals++
    else if (entry.kind === 'event') this.#lost.events++
  }

  #note(name: string, detail: GateEvent['detail']): void {
    this.#waiting.push({ entry: { kind: 'event', atMs: this.#now(), name, detail } })
  }

  #become(state: LedgerState, fault: StoreError | undefined): void {
    const changed = state !== this.#state
    this.#state = state
    this.#fault = fault
    // Deferred, so that the listener sees a ledger in a consistent state.
    if (changed) queueMicrotask(() => this.#options.onState?.(state, fault))
  }

  #unavailable(): LedgerError {
    const fault = this.#fault
    return new LedgerError(
      'LEDGER_UNAVAILABLE',
      fault ? `the ledger cannot be written: ${fault.message}` : 'the ledger is closed',
      fault ? `${fault.help}; the gate recovers automatically` : 'start the gate again',
      fault?.code,
    )
  }
}

const NO_RESERVE = { code: 'ENOSPC', message: 'too little space on the disk for the reserve' }

function tooMany(): LedgerError {
  return new LedgerError(
    'LEDGER_UNAVAILABLE',
    `${PENDING_RECORDS_MAX} records wait for the disk`,
    'try again',
  )
}
