// Which requests only go on with a call that was counted already. A client of the stateless era
// comes back with the answers a server wanted: that is the same call, and its limits were taken.
// Each is good for one return; whoever comes twice makes a call of its own.

import { CONTINUATIONS_MAX, INPUT_HELD_MS } from './limits.ts'

export class Continuations {
  readonly #nowMs: () => number
  /** Sealed state -> until when; the oldest first. */
  readonly #given = new Map<string, number>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  give(sealed: string): void {
    this.#given.delete(sealed)
    this.#given.set(sealed, this.#nowMs() + INPUT_HELD_MS)
    const [oldest] = this.#given.keys()
    if (this.#given.size > CONTINUATIONS_MAX) this.#given.delete(oldest as string)
  }

  take(sealed: string): boolean {
    const untilMs = this.#given.get(sealed) ?? 0
    this.#given.delete(sealed)
    return untilMs > this.#nowMs()
  }
}
