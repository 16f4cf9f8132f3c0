// Sliced work that nobody waits for, by agent: a slice whenever the thread has nothing else to do. Owned by
// residents.ts.

import { runSlice, runWhole, type SlicedWork } from '../shared/sliced.ts'

export class BackgroundSlices {
  readonly #works = new Map<number, SlicedWork<undefined>>()
  #next: NodeJS.Immediate | undefined

  get size(): number {
    return this.#works.size
  }

  has(key: number): boolean {
    return this.#works.has(key)
  }

  add(key: number, work: SlicedWork<undefined>): void {
    this.#works.set(key, work)
    this.#runSoon()
  }

  /** What is left of it, for the caller to do or not. */
  take(key: number): SlicedWork<undefined> | undefined {
    const work = this.#works.get(key)
    this.#works.delete(key)
    return work
  }

  /** All of it, now. */
  finish(): void {
    clearImmediate(this.#next)
    this.#next = undefined
    for (const work of this.#works.values()) runWhole(work)
    this.#works.clear()
  }

  #runSoon(): void {
    this.#next ??= setImmediate(() => {
      this.#next = undefined
      const [first] = this.#works
      if (first === undefined) return
      const [key, work] = first
      if (hasEnded(work)) this.#works.delete(key)
      this.#runSoon()
    })
  }
}

/** What fails is not tried again: nobody waits for it. */
function hasEnded(work: SlicedWork<undefined>): boolean {
  try {
    return runSlice(work).done === true
  } catch {
    return true
  }
}
