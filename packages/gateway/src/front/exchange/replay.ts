// Events of POST streams, kept for a client whose stream broke and that comes back for the rest with
// `Last-Event-ID`. Bounded over all sessions, the oldest stream is evicted first; a client that asks for
// evicted events gets an error, never the rest with a gap. Held by the sessions of the HTTP front.

import { REPLAY_EVENTS_MAX, REPLAY_LENGTH_MAX } from '../../shared/limits.ts'

export class ReplayStore {
  readonly #lengthMax: number
  /** The buffers with events, the oldest first. */
  readonly #buffers = new Set<ReplayBuffer>()
  #length = 0

  constructor(lengthMax = REPLAY_LENGTH_MAX) {
    this.#lengthMax = lengthMax
  }

  open(): ReplayBuffer {
    return new ReplayBuffer(this)
  }

  added(buffer: ReplayBuffer, length: number): void {
    this.#buffers.add(buffer)
    this.#grow(length)
  }

  dropped(length: number): void {
    this.#length -= length
  }

  release(buffer: ReplayBuffer): void {
    this.#buffers.delete(buffer)
  }

  #grow(length: number): void {
    this.#length += length
    for (const buffer of this.#buffers) {
      if (this.#length <= this.#lengthMax) return
      while (this.#length > this.#lengthMax && buffer.dropOldest());
      // The next event need not pass it again.
      if (buffer.isEmpty) this.#buffers.delete(buffer)
    }
  }
}

/** The events of one stream, numbered from 1. */
export class ReplayBuffer {
  readonly #store: ReplayStore
  #texts: string[] = []
  /** The number of the newest event. */
  #last = 0
  #isReleased = false

  constructor(store: ReplayStore) {
    this.#store = store
  }

  /** The number of the event. */
  add(text: string): number {
    this.#last += 1
    if (this.#isReleased) return this.#last
    this.#texts.push(text)
    this.#store.added(this, text.length)
    if (this.#texts.length > REPLAY_EVENTS_MAX) this.dropOldest()
    return this.#last
  }

  /** What came after the event with this number; undefined if that is not all there, or never was. */
  after(number: number): readonly string[] | undefined {
    const first = this.#last - this.#texts.length
    if (number < first || number > this.#last) return undefined
    return this.#texts.slice(number - first)
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#last
  }

  /** False if there is no such stream. */
  dropOldest(): boolean {
    const text = this.#texts.shift()
    if (text !== undefined) this.#store.dropped(text.length)
    return text !== undefined
  }

  /** Nobody will come back for it. */
  release(): void {
    this.#isReleased = true
    while (this.dropOldest());
    this.#store.release(this)
  }
}
