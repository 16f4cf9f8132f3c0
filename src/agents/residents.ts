// The agents that are in memory. Waking one is its newest checkpoint and the events after it; each
// replayed answer is held against the hash in the journal. What a query or a failed step did to a
// memory is thrown away. Owned by the step thread.

import { createHash } from 'node:crypto'
import { type Image, openImage } from '../sandbox/image.ts'
import type { GuestAnswer, Instance } from '../sandbox/instance.ts'
import { STEP_POLLS_MAX, STEP_TIMEOUT_MS } from '../sandbox/limits.ts'
import { Pool } from '../sandbox/pool.ts'
import { AgentError } from './errors.ts'
import type { Journal } from './journal.ts'
import {
  CHECKPOINT_EVENT_BYTES,
  CHECKPOINT_EVENTS,
  CHECKPOINT_RUN_EVENTS,
  REPLAY_EVENTS_MAX,
  RESIDENT_BYTES_MAX,
  RESIDENTS_MAX,
} from './limits.ts'

/** What waking needs of an agent. */
export interface Place {
  readonly key: number
  readonly image: string
  readonly seq: number
}

interface Resident {
  instance: Instance
  readonly place: Place
  seq: number
  checkpointSeq: number
  bytesSince: number
}

export const LIMITS = { polls: STEP_POLLS_MAX, timeoutMs: STEP_TIMEOUT_MS, isOurs: true }
const HASH_BYTES = 16

export function hashAnswer(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, HASH_BYTES)
}

export class Residents {
  readonly #journal: Journal
  readonly #images = new Map<string, { image: Image; pool: Pool }>()
  /** In the order of their last use. */
  readonly #residents = new Map<number, Resident>()
  /** What a memory was before it was asked something; one at a time. */
  #scratch: Buffer | undefined

  constructor(journal: Journal, image: Image) {
    this.#journal = journal
    this.#images.set(image.hash, { image, pool: new Pool(image) })
  }

  /** A guest that nothing has happened to yet takes its first event; `adopt` keeps it. */
  begin(image: string, text: string, bytes: Uint8Array | undefined, nowMs: number) {
    const instance = this.#pool(image).take()
    return { instance, answer: instance.call({ operation: 'step', text, bytes, nowMs }, LIMITS) }
  }

  /** A guest with the memory of an import. */
  revive(image: string, memory: Buffer): Instance {
    return this.#pool(image).take(memory)
  }

  adopt(place: Place, instance: Instance): void {
    this.#keep({ instance, place, seq: place.seq, checkpointSeq: 0, bytesSince: 0 })
  }

  giveBack(instance: Instance): void {
    this.#pool(instance.image.hash).give(instance)
  }

  /** Runs an event. `kept` or `forget` says afterwards whether it was committed. */
  step(place: Place, text: string, bytes: Uint8Array | undefined, nowMs: number): GuestAnswer {
    const { instance } = this.#wake(place)
    try {
      return instance.call({ operation: 'step', text, bytes, nowMs }, LIMITS)
    } catch (error) {
      this.forget(place.key)
      throw error
    }
  }

  kept(place: Place, eventBytes: number, hasEnded: boolean): void {
    const resident = this.#residents.get(place.key)
    if (resident === undefined) return
    resident.seq += 1
    resident.bytesSince += eventBytes
    const events = resident.seq - resident.checkpointSeq
    const due = events >= CHECKPOINT_EVENTS || resident.bytesSince >= CHECKPOINT_EVENT_BYTES
    if (due || (hasEnded && events >= CHECKPOINT_RUN_EVENTS)) this.#checkpoint(resident)
  }

  /** What is in memory is not what was committed: the next who needs the agent wakes it. */
  forget(key: number): void {
    const resident = this.#residents.get(key)
    this.#residents.delete(key)
    if (resident !== undefined) this.giveBack(resident.instance)
  }

  /** Several questions to the same state; what asking did to the memory is undone. */
  asking<Result>(
    place: Place,
    nowMs: number,
    work: (ask: (text: string) => GuestAnswer) => Result,
  ): Result {
    const { instance } = this.#wake(place)
    const before = instance.copy(this.#scratch)
    this.#scratch = before
    try {
      return work((text) => instance.call({ operation: 'ask', text, nowMs }, LIMITS))
    } finally {
      if (!instance.restore(before)) this.forget(place.key)
    }
  }

  /** The memory as it was after an event, in an instance that the caller gives back. */
  at(place: Place, seq: number): Instance {
    const checkpoint = this.#journal.checkpoint(place.key, seq)
    const pool = this.#pool(checkpoint?.image ?? place.image)
    const instance = pool.take(checkpoint?.memory)
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
    }
    return instance
  }

  /** The memory as it is, for a checkpoint, a bundle or a fork. */
  memory(place: Place): Buffer {
    return this.#wake(place).instance.save()
  }

  /** A checkpoint at the agent's last event, new or there already. */
  checkpoint(place: Place): void {
    const resident = this.#wake(place)
    if (resident.checkpointSeq < resident.seq) this.#checkpoint(resident)
  }

  /** Checkpoints all, as before the thread ends. */
  rest(): void {
    for (const resident of this.#residents.values()) this.#leave(resident)
    this.#residents.clear()
  }

  #wake(place: Place): Resident {
    const found = this.#residents.get(place.key)
    if (found !== undefined && found.seq === place.seq && found.place.image === place.image) {
      this.#residents.delete(place.key)
      this.#residents.set(place.key, found)
      return found
    }
    const instance = this.at(place, place.seq)
    const checkpointSeq = this.#journal.checkpointSeq(place.key)
    return this.#keep({ instance, place, seq: place.seq, checkpointSeq, bytesSince: 0 })
  }

  #keep(resident: Resident): Resident {
    this.#residents.delete(resident.place.key)
    this.#residents.set(resident.place.key, resident)
    let bytes = 0
    for (const { instance } of this.#residents.values()) bytes += instance.memoryBytes
    for (const [key, oldest] of this.#residents) {
      if (this.#residents.size <= RESIDENTS_MAX && bytes <= RESIDENT_BYTES_MAX) break
      if (oldest === resident) break
      bytes -= oldest.instance.memoryBytes
      this.#residents.delete(key)
      this.#leave(oldest)
    }
    return resident
  }

  #leave(resident: Resident): void {
    if (resident.seq - resident.checkpointSeq > REPLAY_EVENTS_MAX) this.#checkpoint(resident)
    this.giveBack(resident.instance)
  }

  #checkpoint(resident: Resident): void {
    const { key, image } = resident.place
    const memory = resident.instance.save()
    this.#journal.transact(() => {
      this.#journal.putCheckpoint(key, resident.seq, image, this.#journal.putMemory(memory))
      this.#journal.thinCheckpoints(key, CHECKPOINT_EVENTS)
    })
    resident.checkpointSeq = resident.seq
    resident.bytesSince = 0
  }

  #pool(hash: string): Pool {
    let found = this.#images.get(hash)
    if (found === undefined) {
      const image = openImage(new Uint8Array(this.#journal.image(hash)))
      if (image.hash !== hash)
        throw new AgentError('AGENT_DAMAGED', `the stored image \`${hash}\` is damaged`)
      found = { image, pool: new Pool(image) }
      this.#images.set(hash, found)
    }
    return found.pool
  }
}
