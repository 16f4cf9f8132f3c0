// The agents that are in memory. Waking one loads its newest checkpoint and replays the events after it;
// each replayed answer is compared with the hash in the journal. What a query or a failed step did to a
// memory is discarded. Owned by the step thread.

import { createHash } from 'node:crypto'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { AgentQuery } from '../guest/protocol.ts'
import { type Answers, packInSlices } from '../journal/checkpoint-store.ts'
import type { Journal } from '../journal/journal.ts'
import type { Retention } from '../journal/retention.ts'
import { type Image, openImage } from '../sandbox/image.ts'
import type { GuestAnswer, Instance } from '../sandbox/instance.ts'
import { STEP_POLLS_MAX, STEP_TIMEOUT_MS } from '../sandbox/limits.ts'
import { InstancePool } from '../sandbox/pool.ts'
import { AgentError } from '../shared/errors.ts'
import {
  ANSWER_KEPT_BYTES_MAX,
  CHECKPOINT_EVENT_BYTES,
  CHECKPOINT_EVENTS,
  CHECKPOINT_POLLS,
  CHECKPOINT_RUN_EVENTS,
  PACK_BYTES,
  PACKING_AGENTS_MAX,
  REPLAY_EVENTS_MAX,
} from '../shared/limits.ts'
import { runWhole, type SlicedWork } from '../shared/sliced.ts'
import { BackgroundSlices } from './background-slices.ts'
import { ResidentSet } from './resident-set.ts'

/** What waking needs of an agent. */
export interface WakeSource {
  readonly key: number
  readonly image: string
  readonly seq: number
}

interface Resident {
  instance: Instance
  readonly place: WakeSource
  seq: number
  checkpointSeq: number
  bytesSince: number
  /** Counted steps of its events since the checkpoint: what a replay takes. */
  pollsSince: number
  /** It was woken to be asked, and asking changed bytes: good for more questions, not for a step. */
  isAsked: boolean
  /** The size of its memory, as it was counted last. */
  bytes: number
}

export const LIMITS = { polls: STEP_POLLS_MAX, timeoutMs: STEP_TIMEOUT_MS, isOurs: true }
const HASH_BYTES = 16

/** Answered at every checkpoint and kept with it. */
export const AT_REST: ReadonlySet<string> = new Set(
  (['todos', 'files'] as const).map((ask) => JSON.stringify({ ask } satisfies AgentQuery)),
)

/** What the guest says to those; its memory is not what it was after it. */
export function answersOf(instance: Instance): Record<string, string> {
  const answers: Record<string, string> = {}
  for (const text of AT_REST) {
    const answer = instance.call({ operation: 'ask', text, nowMs: 0 }, LIMITS)
    if (answer.bytes === undefined && answer.text.length <= ANSWER_KEPT_BYTES_MAX)
      answers[text] = answer.text
  }
  return answers
}

export function hashAnswer(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, HASH_BYTES)
}

/** A guest after its first event. */
export interface BegunGuest {
  readonly instance: Instance
  readonly answer: GuestAnswer
}

export class Residents {
  readonly #journal: Journal
  readonly #retention: Retention
  readonly #images = new Map<string, { image: Image; pool: InstancePool }>()
  readonly #residents = new ResidentSet<Resident>()
  /** Checkpoints of large agents on their way to the journal. If one fails, the events since the
   * checkpoint before it are still there. */
  readonly #packing = new BackgroundSlices()
  #last: Instance | undefined
  /** What a memory was before it was asked something; one at a time. */
  #scratch: Buffer | undefined

  constructor(journal: Journal, image: Image, retention: Retention) {
    this.#journal = journal
    this.#retention = retention
    this.#images.set(image.hash, { image, pool: new InstancePool(image) })
  }

  /** A guest that nothing has happened to yet takes its first event; `adopt` keeps it. */
  begin(image: string, text: string, bytes: Uint8Array | undefined, nowMs: number): BegunGuest {
    const instance = this.#pool(image).take()
    return { instance, answer: instance.call({ operation: 'step', text, bytes, nowMs }, LIMITS) }
  }

  /** A guest that nothing has happened to yet. The caller gives it back. */
  fresh(image: string): Instance {
    return this.#pool(image).take()
  }

  /** A guest with the memory of an import. */
  revive(image: string, memory: Buffer): Instance {
    return this.#pool(image).take(memory)
  }

  adopt(place: WakeSource, instance: Instance): void {
    this.#keep(place, instance, 0, false)
  }

  release(instance: Instance): void {
    this.#pool(instance.image.hash).give(instance)
  }

  /** Runs an event. `kept` or `forget` says afterwards whether it was committed. */
  step(place: WakeSource, text: string, bytes: Uint8Array | undefined, nowMs: number): GuestAnswer {
    const resident = this.#awake(place)
    const { instance } = resident
    this.#last = instance
    try {
      const answer = instance.call({ operation: 'step', text, bytes, nowMs }, LIMITS)
      resident.pollsSince += answer.polls
      return answer
    } catch (error) {
      this.forget(place.key)
      throw error
    }
  }

  kept(place: WakeSource, eventBytes: number, hasEnded: boolean): void {
    const resident = this.#residents.get(place.key)
    if (resident === undefined) return
    this.#residents.count(resident, resident.instance.memoryBytes)
    resident.seq += 1
    resident.bytesSince += eventBytes
    const events = resident.seq - resident.checkpointSeq
    const due = events >= CHECKPOINT_EVENTS || resident.bytesSince >= CHECKPOINT_EVENT_BYTES
    const isLong = resident.pollsSince >= CHECKPOINT_POLLS
    if (due || isLong || (hasEnded && events >= CHECKPOINT_RUN_EVENTS)) this.#checkpoint(resident)
  }

  /** What is in memory is not what was committed: the next who needs the agent wakes it. */
  forget(key: number): void {
    this.#packing.take(key)
    const resident = this.#residents.get(key)
    if (resident === undefined) return
    this.#residents.delete(resident)
    this.release(resident.instance)
  }

  /** It is in memory, with events that its newest checkpoint does not have. */
  isAhead({ key, seq }: WakeSource): boolean {
    const resident = this.#residents.get(key)
    return resident !== undefined && resident.checkpointSeq < seq
  }

  /** Whatever is done to the memory in here is undone, or goes with it. */
  trying<Result>(place: WakeSource, work: (instance: Instance) => Result): Result {
    const { instance } = this.#awake(place)
    const before = instance.copy(this.#scratch)
    this.#scratch = before
    try {
      return work(instance)
    } finally {
      if (!instance.restore(before)) this.forget(place.key)
    }
  }

  /** Several questions to the same state; what asking did to the memory is undone or goes with it. */
  asking<Result>(
    place: WakeSource,
    nowMs: number,
    work: (ask: (text: string) => GuestAnswer) => Result,
  ): Result {
    const { isAsked, instance } = this.#find(place) ?? this.#wake(place, true)
    const ask = (text: string) => instance.call({ operation: 'ask', text, nowMs }, LIMITS)
    if (!isAsked) return this.trying(place, () => work(ask))
    try {
      return work(ask)
    } finally {
      if (instance.isDead) this.forget(place.key)
    }
  }

  /** Several questions to one state, in slices: asked of a copy, since the agent may go on between two
   * of them. An agent that has no more memory than a new one is asked in one piece, which is quicker than to copy it.
   * `saved`: its memory, if the caller has it. */
  *askingInSlices<Result>(
    place: WakeSource,
    nowMs: number,
    work: (ask: (text: string) => GuestAnswer) => SlicedWork<Result>,
    saved?: Buffer,
  ): SlicedWork<Result> {
    const known = saved === undefined ? this.#find(place) : undefined
    if (known !== undefined && known.instance.memoryBytes <= known.instance.image.base.length)
      return this.asking(place, nowMs, (ask) => runWhole(work(ask)))
    const memory = saved ?? this.memory(place)
    yield
    const instance = this.revive(place.image, memory)
    try {
      yield
      return yield* work((text) => instance.call({ operation: 'ask', text, nowMs }, LIMITS))
    } finally {
      this.release(instance)
    }
  }

  /** The memory as it was after an event, in an instance that the caller gives back. */
  at(place: WakeSource, seq: number): Instance {
    return runWhole(this.#replay(place, seq))
  }

  /** A checkpoint after an event that has none, in slices: replaying what lies before it may be long.
   * `check` throws if the agent is gone by then. */
  *checkpointAt(place: WakeSource, seq: number, check: () => unknown): SlicedWork<undefined> {
    const { memories } = this.#journal
    if (memories.memoryOf(place.key, seq) !== undefined) return
    const instance = yield* this.#replay(place, seq)
    const { hash } = instance.image
    const packed = yield* packInSlices(instance.save())
    this.release(instance)
    check()
    this.#journal.transact(() =>
      memories.putCheckpoint(place.key, seq, hash, memories.putPacked(packed, null)),
    )
  }

  *#replay(place: WakeSource, seq: number): SlicedWork<Instance> {
    const checkpoint = this.#journal.memories.checkpoint(place.key, seq)
    const pool = this.#pool(checkpoint?.image ?? place.image)
    const instance = pool.take(checkpoint?.memory)
    let last = checkpoint?.seq ?? 0
    for (const row of this.#journal.events(place.key, checkpoint?.seq ?? 0, seq)) {
      const call = {
        operation: 'step',
        text: row.event,
        bytes: row.bytes ?? undefined,
        nowMs: row.at,
      }
      const { text } = instance.call(call, LIMITS)
      if (row.answer !== null && !hashAnswer(text).equals(row.answer))
        throw new AgentError('AGENT_DAMAGED', `event ${row.seq} of the agent does not replay`)
      if (row.seq !== last + 1) break
      last = row.seq
      yield
    }
    if (last !== seq)
      throw new AgentError('AGENT_DAMAGED', `event ${last + 1} of the agent is not there any more`)
    return instance
  }

  /** The memory as it is, for a checkpoint, a bundle or a fork. */
  memory(place: WakeSource): Buffer {
    return this.#awake(place).instance.save()
  }

  /** A checkpoint at the agent's last event, new or there already. */
  checkpoint(place: WakeSource): void {
    runWhole(this.checkpointInSlices(place))
  }

  /** `check` throws if the agent is gone by the time it is packed. */
  *checkpointInSlices(place: WakeSource, check?: () => unknown): SlicedWork<undefined> {
    const resident = this.#awake(place)
    if (resident.checkpointSeq < resident.seq) yield* this.#takeCheckpoint(resident, check)
    const packing = this.#packing.take(place.key)
    if (packing !== undefined) yield* packing
  }

  /** Checkpoints all, as before the thread ends. */
  rest(): void {
    this.#packing.finish()
    for (const resident of this.#residents.clear()) {
      this.#leave(resident)
      this.#packing.finish()
    }
  }

  /** All of them, as they are. */
  forgetAll(): void {
    for (const { instance } of this.#residents.clear()) this.release(instance)
  }

  #find({ key, seq, image }: WakeSource): Resident | undefined {
    const found = this.#residents.get(key)
    if (found === undefined || found.seq !== seq || found.place.image !== image) return undefined
    this.#residents.use(found)
    return found
  }

  /** Wakes an agent as it was committed, to the byte. */
  #awake(place: WakeSource): Resident {
    const resident = this.#find(place)
    return resident === undefined || resident.isAsked ? this.#wake(place, false) : resident
  }

  #wake(place: WakeSource, isAsked: boolean): Resident {
    this.forget(place.key)
    const instance = this.at(place, place.seq)
    const checkpointSeq = this.#journal.memories.checkpointSeq(place.key)
    return this.#keep(place, instance, checkpointSeq, isAsked)
  }

  #keep(place: WakeSource, instance: Instance, checkpointSeq: number, isAsked: boolean): Resident {
    this.forget(place.key)
    const bytes = instance.memoryBytes
    const { seq } = place
    const resident: Resident = {
      instance,
      place,
      seq,
      checkpointSeq,
      bytesSince: 0,
      pollsSince: 0,
      isAsked,
      bytes,
    }
    for (const oldest of this.#residents.add(resident)) this.#leave(oldest)
    return resident
  }

  #leave(resident: Resident): void {
    const events = resident.seq - resident.checkpointSeq
    if (!resident.isAsked && events > REPLAY_EVENTS_MAX) this.#checkpoint(resident)
    this.release(resident.instance)
  }

  /** At once where the agent is small; of a large one the memory is copied, and packed in slices. */
  #checkpoint(resident: Resident): void {
    const { key } = resident.place
    if (this.#packing.has(key) || this.#packing.size >= PACKING_AGENTS_MAX) return
    const work = this.#takeCheckpoint(resident)
    if (work.next().done === true) return
    this.#packing.add(key, work)
  }

  /** The memory as it is now, and what the guest says of itself; it goes on as it was. */
  *#takeCheckpoint(resident: Resident, check?: () => unknown): SlicedWork<undefined> {
    const { place, instance, seq } = resident
    const { key, image } = place
    const memory = instance.save()
    let answers: Answers | null = null
    try {
      answers = answersOf(instance)
      instance.load(memory)
    } catch {
      // What asking did cannot be undone, or it cannot be asked: the next who needs it wakes it.
      if (this.#residents.get(key) === resident) this.#residents.delete(resident)
    }
    resident.checkpointSeq = seq
    resident.bytesSince = 0
    resident.pollsSince = 0
    if (memory.length > PACK_BYTES) yield
    const packed = yield* packInSlices(memory)
    check?.()
    this.#journal.transact(() => {
      const { memories } = this.#journal
      memories.putCheckpoint(key, seq, image, memories.putPacked(packed, answers))
      memories.thin(key, CHECKPOINT_EVENTS)
      this.#retention.trim(key, seq, processClock.earliestMs())
    })
  }

  /** Prepares memories for the next agent that is created, and for the one that was used last. */
  tidy(): void {
    this.#last?.tidy()
    for (const { pool } of this.#images.values()) pool.tidy()
  }

  #pool(hash: string): InstancePool {
    let found = this.#images.get(hash)
    if (found === undefined) {
      const image = openImage(new Uint8Array(this.#journal.memories.image(hash)))
      if (image.hash !== hash)
        throw new AgentError('AGENT_DAMAGED', `the stored image \`${hash}\` is damaged`)
      found = { image, pool: new InstancePool(image) }
      this.#images.set(hash, found)
    }
    return found.pool
  }
}
