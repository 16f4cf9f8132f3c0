// Admission of calls at gates that share one database: limits, approval and intent are one statement.
// One statement is in flight at a time; what arrives meanwhile is the next batch, and other records ride along. If the
// effect of a statement is unknown, this gate's epoch is raised, which waits for it; then what it did is undone.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LimitUsage, Receipt } from '@sluice/policy/calls/counters'
import type { AdmissionReply, AdmissionRequest, AdmissionStore } from '../admission.ts'
import { FIRST_HASH } from '../chain-hash.ts'
import { StoreError } from '../errors.ts'
import {
  ADMIT_DEADLINE_MS,
  ADMIT_WAITING_MAX,
  SENT_WITHIN_MS,
  SHARED_OUTCOME_DELAY_MS,
  SHARED_RETRY_MS_MAX,
  SHARED_RETRY_MS_MIN,
  UNDO_BATCHES_MAX,
} from '../limits.ts'
import type { AdmissionState, PostgresAdmissionParts, StoreOutage } from './admission-parts.ts'
import { AdmissionQueue, notRecorded, SAME_NAME, STOPPED } from './admission-queue.ts'
import {
  type ChainHead,
  type ChainRecord,
  encodeBatch,
  encodeHead,
  encodeRefund,
  type QueuedItem,
  readBatchResult,
  type SharedReceipt,
  toCallItem,
  toHead,
  toRowItem,
  toWrittenReply,
  undoneCharges,
} from './batch.ts'
import type { Row } from './connections.ts'
import { describeRefusal } from './explain-failure.ts'
import { compareChain, restoreChain } from './lost-records.ts'
import { RecentCharges } from './recent-charges.ts'
import {
  ADMIT,
  ENTER,
  GIVE_BACK,
  isEffectUnknown,
  RAISE,
  REGISTER_AGAIN,
  refusesWrites,
} from './statements.ts'

/** In the record, which has no address of a database. */
const NO_ANSWER = 'the database did not answer'

type DatabaseError = Error & { readonly code?: string }

export class PostgresAdmissionStore<Entry> implements AdmissionStore<Entry> {
  /** The database decides: every limit may have room until then. */
  readonly usage: LimitUsage = {
    look: ({ max }) => ({ passes: true, remaining: max, retryAfterMs: 0 }),
  }
  readonly #parts: PostgresAdmissionParts<Entry>
  readonly #open = new Set<number>()
  readonly #queue = new AdmissionQueue()
  /** Of this process: another one with the same name is fenced, not overtaken. */
  readonly #owner = randomUUID()
  #epoch = 0
  #head: ChainHead = { seq: 0, hash: FIRST_HASH }
  #state: AdmissionState = 'unknown'
  #why = 'the gate is starting'
  #turn: NodeJS.Immediate | undefined
  #soon: NodeJS.Timeout | undefined
  #flight: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #pauseMs = SHARED_RETRY_MS_MIN
  /** The statement whose effect is unknown. */
  #unknown: readonly QueuedItem[] = []
  /** Until it is recorded. */
  #outage: StoreOutage | undefined
  #isOutageQueued = false
  readonly #undone: SharedReceipt[] = []
  #batches = 0
  readonly #recent = new RecentCharges()
  /** Of the database; another one after a failover. */
  #timeline: unknown

  constructor(parts: PostgresAdmissionParts<Entry>) {
    this.#parts = parts
  }

  get state(): AdmissionState {
    return this.#state
  }

  /** Why it is not `open`. */
  get why(): string {
    return this.#state === 'open' ? '' : this.#why
  }

  /** Whether the database answers and refuses to write; otherwise, while the state is `unknown`, it does not answer. */
  get isRefused(): boolean {
    return (this.#outage?.why ?? NO_ANSWER) !== NO_ANSWER
  }

  get head(): ChainHead {
    return this.#head
  }

  get epoch(): number {
    return this.#epoch
  }

  get figures(): { commits: number; open: number; waiting: number } {
    return { commits: this.#batches, open: this.#open.size, waiting: this.#queue.rows.length }
  }

  /** Takes this gate's name: a gate that had it before is fenced. Calls since `openFrom` may be open. */
  async start(): Promise<{ readonly openFrom: number; readonly head: ChainHead }> {
    const row = (await this.#enter(ENTER)) as Row
    this.#head = toHead(row)
    this.#timeline = row.timeline
    this.#become('open', '')
    return { openFrom: Number(row.open_from), head: this.#head }
  }

  /** Another timeline than before means that commits may be lost; undefined, that this gate is not known any more. */
  async compareTimeline(timeline: string | undefined, epoch = this.#epoch): Promise<void> {
    if (timeline === this.#timeline || this.#state !== 'open' || epoch !== this.#epoch) return
    this.#becomeUnknown(timeline ? 'the database has failed over' : SAME_NAME)
    await this.#flight
    await this.#recover()
  }

  admit(request: AdmissionRequest<Entry>): Promise<AdmissionReply> {
    if (this.#state !== 'open') return Promise.resolve(this.#unavailable())
    const isFull = this.#queue.calls.length >= ADMIT_WAITING_MAX
    const why = isFull
      ? `${ADMIT_WAITING_MAX} calls wait for the shared store`
      : this.#parts.objection?.()
    if (why !== undefined) return Promise.resolve({ status: 'unavailable', why })
    return new Promise((answer) => {
      try {
        this.#queue.calls.push(toCallItem(this.#parts, request, answer))
        this.#schedule()
      } catch (error) {
        answer({ status: 'unavailable', why: (error as Error).message })
      }
    })
  }

  /** A record that is written whatever the limits are. Resolves with its number; while the database does
   * not answer it waits, or with a `signal` as long as that is not aborted: nothing may follow from it then. */
  append(record: ChainRecord, outcomeOf?: number, signal?: AbortSignal): Promise<number> {
    if (this.#state === 'closed' || this.#state === 'fenced')
      return Promise.reject(new StoreError('STORE_FENCED', this.#why, 'start the gate again'))
    const { isFull, rows } = this.#queue
    const why = isFull ? `${rows.length} records wait for the shared store` : signal && this.why
    if (why) return Promise.reject(notRecorded(why))
    return new Promise((resolve, reject) => {
      const item = toRowItem(record, (reply) => {
        if (reply.status !== 'admitted') return reject(new Error('the record was not written'))
        if (outcomeOf !== undefined) this.#open.delete(outcomeOf)
        resolve(reply.sequence)
      })
      signal?.addEventListener('abort', () => reject(notRecorded('no answer in time')))
      rows.push({ ...item, signal })
      // An outcome joins the next batch: the next call would have to wait for one of its own.
      if (outcomeOf === undefined) this.#schedule()
      else this.#scheduleOutcomes()
    })
  }

  /** After the record that says so: a gate that is killed in between has charged too much, never too little. */
  async refund(receipt: Receipt): Promise<void> {
    if (receipt.charges.length === 0) return
    await new Promise((resolve) => setImmediate(resolve))
    await this.drain(2)
    const { connections, gate } = this.#parts
    await connections.query(GIVE_BACK, [gate, ...encodeRefund(receipt as SharedReceipt)])
  }

  /** Writes what waits, in so many statements at most. */
  async drain(most = Number.POSITIVE_INFINITY): Promise<void> {
    const isBusy = () => this.#queue.rows.length > 0 || this.#flight !== undefined
    for (let sent = 0; sent <= most && this.#state === 'open' && isBusy(); sent++) {
      this.#schedule()
      await this.#flight
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Writes what waits, and admits nothing more. */
  async close(): Promise<void> {
    await this.drain()
    clearTimeout(this.#retry)
    clearTimeout(this.#soon)
    this.#become('closed', 'the gate is stopping')
    this.#refuseAll()
  }

  #schedule(): void {
    if (this.#state !== 'open' || this.#flight !== undefined) return
    clearTimeout(this.#soon)
    this.#soon = undefined
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined
      if (this.#state !== 'open' || this.#flight !== undefined) return
      const flight = this.#flush().catch((error: Error) => this.#stop(error.message))
      this.#flight = flight.finally(() => {
        this.#flight = undefined
        if (this.#queue.isUrgent) this.#schedule()
        else if (this.#queue.rows.length > 0) this.#scheduleOutcomes()
      })
    })
  }

  #scheduleOutcomes(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#schedule()
    }, SHARED_OUTCOME_DELAY_MS)
  }

  async #flush(): Promise<void> {
    try {
      // What this gate has changed is committed before it admits anything by it.
      await this.#parts.settle()
    } catch (error) {
      this.#refuseCalls((error as Error).message)
    }
    const batch = this.#queue.take(this.#parts.stamp())
    if (batch.length === 0) return
    const { connections, gate, version } = this.#parts
    const openFrom = this.#open.values().next().value ?? this.#head.seq + 1
    let row: Row | undefined
    const sentMs = performance.now()
    try {
      const known = [...encodeHead(this.#head), gate, this.#epoch, version(), openFrom]
      ;[row] = await connections.query(ADMIT, [...known, ...encodeBatch(batch)], ADMIT_DEADLINE_MS)
      this.#batches++
    } catch (error) {
      return this.#failed(batch, error as DatabaseError)
    }
    this.#admitted(batch, row as Row, performance.now() - sentMs > SENT_WITHIN_MS)
  }

  /** `isLate`: the gate was stopped meanwhile, and what it decided by may have changed since. */
  #admitted(batch: readonly QueuedItem[], row: Row, isLate: boolean): void {
    const { head, isForked, replies, written } = readBatchResult(batch, this.#head, row)
    if (isForked) {
      this.#stop('the database has another chain of this gate than the one that was sent')
      for (const { answer } of batch) answer(this.#unavailable())
      return
    }
    this.#head = head
    if (written.length > 0) this.#parts.onWritten?.(written, head)
    this.#recent.add(batch, replies, row)
    const stale: QueuedItem[] = []
    for (const [at, item] of batch.entries()) {
      const reply = replies[at] as AdmissionReply
      if (reply.status === 'admitted' && item.kind === 'i') this.#open.add(reply.sequence)
      if (reply.status === 'changed') stale.push(item)
      else if (isLate && reply.status === 'admitted' && item.kind === 'i')
        this.#giveBack(item, reply)
      else item.answer(reply)
    }
    if (stale.length > 0) void this.#queue.answerStale(stale, this.#parts.refreshSessions)
  }

  /** Of a call that was admitted and is not sent. */
  #giveBack({ answer }: QueuedItem, reply: AdmissionReply & { status: 'admitted' }): void {
    this.#appendUndone(reply.sequence)
    void this.refund(reply.receipt).catch(() => {})
    answer({ status: 'unavailable', why: STOPPED })
  }

  #appendUndone(intent: number): void {
    const body = this.#parts.encodeUndone(intent)
    void this.append({ kind: 'o', id: '', body }, intent).catch(() => {})
  }

  async #failed(batch: readonly QueuedItem[], error: DatabaseError): Promise<void> {
    const calls = batch.filter(({ kind }) => kind === 'i')
    const rows = batch.filter(({ kind }) => kind !== 'i')
    this.#queue.rows.unshift(...rows)
    if (error.code === 'SL001') {
      // First: a call that is decided at once would be decided by the same older state.
      await this.#parts.catchUp().catch(() => {})
      for (const { answer } of calls) answer({ status: 'changed' })
      return
    }
    if (error.code === 'SL002') {
      this.#queue.calls.unshift(...calls)
      this.#becomeUnknown(SAME_NAME)
      return this.#recover()
    }
    if (!(error instanceof StoreError || isEffectUnknown(error.code))) {
      // The database refused the statement: nothing happened.
      for (const { answer } of calls) answer({ status: 'unavailable', why: error.message })
      if (rows.length > 0) await sleep(SHARED_RETRY_MS_MIN)
      return
    }
    this.#unknown = batch
    this.#queue.rows.splice(0, rows.length)
    this.#queue.calls.unshift(...calls)
    this.#becomeUnknown(this.#explain(error))
    this.#recoverLater()
  }

  /** Notes the outage. */
  #explain(error: DatabaseError): string {
    const { sinceMs = Date.now(), why = NO_ANSWER } = this.#outage ?? {}
    const isRefused = refusesWrites(error.code)
    this.#outage = { sinceMs, why: isRefused ? error.message : why }
    return isRefused ? describeRefusal(this.#parts.connections.where, error) : error.message
  }

  #recoverLater(): void {
    this.#retry = setTimeout(() => void this.#recover(), this.#pauseMs)
    this.#retry.unref()
    this.#pauseMs = Math.min(SHARED_RETRY_MS_MAX, this.#pauseMs * 2)
  }

  #becomeUnknown(why: string): void {
    this.#become('unknown', why)
    this.#refuseCalls()
    clearTimeout(this.#retry)
  }

  /** The new epoch waits for the statement whose effect is unknown, or prevents it. */
  async #recover(): Promise<void> {
    if (this.#state !== 'unknown') return
    try {
      const lost = [this.#epoch, this.#timeline]
      const row = (await this.#enter(RAISE)) ?? (await this.#enter(REGISTER_AGAIN, lost))
      if (row === undefined) return this.#stop(SAME_NAME, 'fenced')
      await this.#resolve(toHead(row), row)
      if (row.timeline !== this.#timeline) await this.#parts.onFailover?.()
      this.#timeline = row.timeline
      await this.#parts.catchUp()
      await this.#undo()
      await this.#probe()
      if (this.#state !== 'unknown' || this.#unknown.length > 0) return
      this.#pauseMs = SHARED_RETRY_MS_MIN
      this.#become('open', '')
      this.#schedule()
    } catch (error) {
      this.#why = this.#explain(error as DatabaseError)
      if (this.#state === 'unknown') this.#recoverLater()
    }
  }

  /** The records first, see `refund`. */
  async #undo(): Promise<void> {
    const isLeft = () => this.#undone.length > 0 && this.#queue.rows.length > 0
    for (let sent = 0; isLeft() && this.#unknown.length === 0 && sent < UNDO_BATCHES_MAX; sent++)
      await this.#flush()
    if (this.#unknown.length === 0)
      for (const receipt of this.#undone.splice(0)) await this.refund(receipt)
  }

  /** A database that refused to write may raise the epoch and have no room, or no permission, for a record: it has to
   * take one before calls are admitted again. What waits is tried first, and the outage is recorded behind it. */
  async #probe(): Promise<void> {
    if (this.#outage === undefined || this.#unknown.length > 0) return
    if (!this.#isOutageQueued) {
      this.#isOutageQueued = true
      const body = this.#parts.encodeOutage(this.#outage)
      const row = toRowItem({ kind: 'e', id: '', body }, () => {
        this.#outage = undefined
        this.#isOutageQueued = false
      })
      this.#queue.rows.push(row)
    }
    const before = this.#batches
    await this.#flush()
    // Refused for a reason of its own, such as a lock: it is tried again.
    if (this.#batches === before && this.#unknown.length === 0) throw new Error(this.#why)
  }

  async #resolve(head: ChainHead, row: Row): Promise<void> {
    const { connections, gate } = this.#parts
    const found = await compareChain(connections, gate, { before: this.#head, head })
    const isLost = found.status === 'behind' && !(await this.#restore(head, row))
    if (isLost || found.status === 'forked')
      return this.#stop('the database no longer has what it had confirmed to this gate')
    const batch = this.#unknown
    if (found.status !== 'more') {
      this.#queue.rows.unshift(...batch.filter(({ kind }) => kind !== 'i'))
      this.#unknown = []
      return
    }
    const { at, written } = found
    const undo: SharedReceipt = { ...undoneCharges(batch, written), at, batch: String(row.batch) }
    this.#undone.push(undo)
    this.#head = head
    this.#unknown = []
    this.#parts.onWritten?.(written, head)
    const rest = batch.filter(({ kind }) => kind !== 'i')
    for (const { seq, kind } of written)
      if (kind === 'i') {
        this.#open.add(seq)
        this.#appendUndone(seq)
      } else rest.shift()?.answer(toWrittenReply(seq))
  }

  /** A failover lost records that were confirmed: this gate gives them back, with what they charged. */
  async #restore(head: ChainHead, row: Row): Promise<boolean> {
    const before = this.#head
    const charges = this.#recent.encodeAfter(Number(row.batch))
    const last = { batch: this.#recent.last, epoch: this.#epoch }
    if (!(await restoreChain(this.#parts, { before, head, charges, ...last }))) return false
    const body = this.#parts.encodeRestored?.({ from: head.seq + 1, through: before.seq })
    if (body !== undefined) this.#queue.rows.push(toRowItem({ kind: 'e', id: '', body }, () => {}))
    return true
  }

  async #enter(statement: string, more: readonly unknown[] = []): Promise<Row | undefined> {
    const { connections, gate } = this.#parts
    const [row] = await connections.query(statement, [gate, this.#owner, ...more])
    if (row !== undefined) this.#epoch = Number(row.epoch)
    return row
  }

  #stop(why: string, state: 'lost' | 'fenced' = 'lost'): void {
    this.#become(state, why)
    this.#refuseAll()
  }

  #refuseCalls(why = this.#why): void {
    for (const { answer } of this.#queue.calls.splice(0)) answer({ status: 'unavailable', why })
  }

  #refuseAll(): void {
    this.#refuseCalls()
    for (const { answer } of this.#queue.rows.splice(0)) answer(this.#unavailable())
  }

  #unavailable = (): AdmissionReply => ({ status: 'unavailable', why: this.#why })

  #become(state: AdmissionState, why: string): void {
    if (this.#state === 'closed') return
    const isNew = state !== this.#state
    this.#state = state
    this.#why = why
    if (isNew) this.#parts.onState?.(state, why)
  }
}
