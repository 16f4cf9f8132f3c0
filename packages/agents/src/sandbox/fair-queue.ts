// Bounded concurrency with a round-robin queue per owner: an owner with much work waits for itself
// and does not delay others. Used for the threads that run guests.

type StartTask = () => void

export class FairQueue {
  readonly #most: number
  readonly #mostPerOwner: number
  /** Tasks by owner; the first in the map is next. */
  readonly #waiting = new Map<string, StartTask[]>()
  #running = 0
  readonly #runningByOwner = new Map<string, number>()

  constructor(most: number, mostPerOwner = most) {
    this.#most = most
    this.#mostPerOwner = mostPerOwner
  }

  /** `isContinued` for the next part of work that has begun: it comes before what its owner began later, so
   * that others who wait for the end of that work do not wait for everything its owner has to do. */
  async run<Result>(
    whose: string,
    work: () => Promise<Result>,
    isContinued = false,
  ): Promise<Result> {
    if (this.#running < this.#most && this.#hasRoom(whose)) this.#count(whose, 1)
    else await new Promise<void>((begin) => this.#wait(whose, begin, isContinued))
    try {
      return await work()
    } finally {
      this.#count(whose, -1)
      this.#moveBehind(whose)
      // At once: a new arrival cannot overtake those that are queued.
      this.#startNext()
    }
  }

  #hasRoom(whose: string): boolean {
    return (this.#runningByOwner.get(whose) ?? 0) < this.#mostPerOwner
  }

  #count(whose: string, change: 1 | -1): void {
    this.#running += change
    const count = (this.#runningByOwner.get(whose) ?? 0) + change
    if (count === 0) this.#runningByOwner.delete(whose)
    else this.#runningByOwner.set(whose, count)
  }

  #wait(whose: string, begin: StartTask, isContinued: boolean): void {
    const others = this.#waiting.get(whose)
    if (others === undefined) this.#waiting.set(whose, [begin])
    else if (isContinued) others.unshift(begin)
    else others.push(begin)
  }

  /** An owner that has just had a turn moves behind all that arrived meanwhile. */
  #moveBehind(whose: string): void {
    const all = this.#waiting.get(whose)
    if (all === undefined) return
    this.#waiting.delete(whose)
    this.#waiting.set(whose, all)
  }

  #startNext(): void {
    for (const [whose, all] of this.#waiting) {
      if (!this.#hasRoom(whose)) continue
      this.#waiting.delete(whose)
      const next = all.shift() as StartTask
      if (all.length > 0) this.#waiting.set(whose, all)
      this.#count(whose, 1)
      return next()
    }
  }
}
