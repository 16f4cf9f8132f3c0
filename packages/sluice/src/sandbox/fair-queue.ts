// So many at once, and behind them everybody in turn: whose work is much waits for itself, not others
// for it. Used for the threads that run guests.

type Begin = () => void

export class FairQueue {
  readonly #most: number
  /** By whose it is; the first in the map is the next whose turn it is. */
  readonly #waiting = new Map<string, Begin[]>()
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
      // The place is handed on: nobody who comes just now is before those who wait.
      const next = this.#next()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #wait(whose: string, begin: Begin): void {
    const others = this.#waiting.get(whose)
    if (others === undefined) this.#waiting.set(whose, [begin])
    else others.push(begin)
  }

  /** Who has just had a turn is behind all who came meanwhile: they wait for that turn and no other. */
  #moveBehind(whose: string): void {
    const all = this.#waiting.get(whose)
    if (all === undefined) return
    this.#waiting.delete(whose)
    this.#waiting.set(whose, all)
  }

  #next(): Begin | undefined {
    for (const [whose, all] of this.#waiting) {
      const next = all.shift()
      this.#waiting.delete(whose)
      if (all.length > 0) this.#waiting.set(whose, all)
      return next
    }
    return undefined
  }
}
