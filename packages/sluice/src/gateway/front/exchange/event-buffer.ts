// Messages for a client's GET stream, the newest last: kept until it opens one, and for a client
// that lost its stream and comes back for what it missed. Nothing is told twice to one that does not
// ask for it. The oldest go first when there are many.

import { SESSION_EVENTS_LENGTH_MAX, SESSION_EVENTS_MAX } from '../../shared/limits.ts'

interface KeptEvent {
  readonly id: string
  readonly number: number
  readonly text: string
}

export class EventBuffer {
  #events: KeptEvent[] = []
  #length = 0
  #last: number
  #sent: number

  /** `before` is the number before the first. */
  constructor(before: number) {
    this.#last = before
    this.#sent = before
  }

  /** Says the id that the event goes out with. */
  add(text: string): string {
    const number = ++this.#last
    const event = { id: `g${number}`, number, text }
    this.#events.push(event)
    this.#length += text.length
    while (this.#events.length > SESSION_EVENTS_MAX || this.#length > SESSION_EVENTS_LENGTH_MAX)
      this.#length -= this.#events.shift()?.text.length ?? 0
    return event.id
  }

  /** What a stream has to begin with: what came after the last event the client saw, where it says
   * so, else what no stream has carried yet. */
  after(lastId: string | undefined): readonly KeptEvent[] {
    const seen = /^g\d+$/.test(lastId ?? '') ? Number(lastId?.slice(1)) : this.#sent
    return this.#events.filter(({ number }) => number > seen)
  }

  /** A stream carries them all from now on. */
  allSent(): void {
    this.#sent = this.#last
  }
}
