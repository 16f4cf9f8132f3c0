// Changes of many open requests at once, because a policy, a definition or an approver has changed.
// They are made in slices, so that the event loop goes on, but apply immediately: a request that is
// read before its turn is changed first.

import { CHANGE_AGAIN_MS } from './limits.ts'

/** Time that one piece of work may take, see gateway/shared/slices.ts. */
export interface WorkSlices {
  readonly isOver: boolean
  next(): Promise<void>
}

/** Why the request is void; undefined if its votes are to be counted again. */
export type RequestChange = string | undefined

export interface DeferredChangesParts {
  /** Makes the change of the request with this `seq`. */
  readonly change: (seq: number, change: RequestChange) => void
  readonly slices: () => WorkSlices
  readonly warn: (message: string, why: string) => void
}

export class DeferredChanges {
  readonly #parts: DeferredChangesParts
  readonly #changes = new Map<number, RequestChange>()
  #isRunning = false
  #isClosed = false
  #again: NodeJS.Timeout | undefined

  constructor(parts: DeferredChangesParts) {
    this.#parts = parts
  }

  /** Changes that fit into the first slice are made before it returns. */
  add(seqs: Iterable<number>, change: RequestChange): void {
    // A request that is void is so for the first reason.
    for (const seq of seqs) if (this.#changes.get(seq) === undefined) this.#changes.set(seq, change)
    if (!this.#isRunning) void this.#run()
  }

  /** Makes the change of this request now. False if there is none. If it throws, it is still due. */
  settle(seq: number): boolean {
    if (!this.#changes.has(seq)) return false
    const change = this.#changes.get(seq)
    // Listeners that are notified of the change read the request.
    this.#changes.delete(seq)
    try {
      this.#parts.change(seq, change)
    } catch (error) {
      this.#changes.set(seq, change)
      throw error
    }
    return true
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#again)
  }

  async #run(): Promise<void> {
    const slices = this.#parts.slices()
    this.#isRunning = true
    try {
      for (const seq of this.#changes.keys()) {
        if (this.#isClosed) return
        this.settle(seq)
        if (slices.isOver) await slices.next()
      }
    } catch (error) {
      // A full disk.
      this.#parts.warn('requests could not be ended', (error as Error).message)
      clearTimeout(this.#again)
      this.#again = setTimeout(() => this.add([], undefined), CHANGE_AGAIN_MS).unref()
    } finally {
      this.#isRunning = false
    }
  }
}
