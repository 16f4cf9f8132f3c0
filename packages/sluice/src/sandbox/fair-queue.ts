// Bounded concurrency with a round-robin queue per owner: an owner with much work waits for itself
// and does not delay others. Used for the threads that run guests.

type StartTask = () => void

export class FairQueue {
  readonly #most: number
  /** By owner; the first in the map is next. */
  readonly #waiting = new Map<string, StartTask[]>()
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  async run<Result>(whose: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#most) this.#running += 1
    else await new Promise<void>((begin) => this.#wait(whose, begin))
    try {
      return await work()
    } finally {
      this.#moveBehind(whose)
      // The slot is passed on: a new arrival cannot overtake those that are queued.
      const next = this.#next()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #wait(whose: string, begin: StartTask): void {
    const others = this.#waiting.get(whose)
    if (others === undefined) this.#waiting.set(whose, [begin])
    else others.push(begin)
  }

  /** An owner that has just had a turn moves behind all that arrived meanwhile. */
  #moveBehind(whose: string): void {
    const all = this.#waiting.get(whose)
    if (all === undefined) return
    this.#waiting.delete(whose)
    this.#waiting.set(whose, all)
  }

  #next(): StartTask | undefined {
    for (const [whose, all] of this.#waiting) {
      const next = all.shift()
      this.#waiting.delete(whose)
      if (all.length > 0) this.#waiting.set(whose, all)
      return next
    }
    return undefined
  }
}
