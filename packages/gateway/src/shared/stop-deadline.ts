// The one deadline of a gate that ends (`stop_within`). Announcing, handing agents over, telling pipes and letting calls
// finish share it; what is kept of it is for the ledger. Begun by the first step of the end.

import { STOP_KEPT_MS } from './limits.ts'

export class StopDeadline {
  /** Resolves when nothing more is waited for. */
  readonly over: Promise<void>
  readonly #withinMs: number
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #resolve: () => void = () => {}

  constructor(withinMs: number) {
    this.#withinMs = withinMs
    this.over = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  begin(): void {
    this.#timer ??= setTimeout(() => this.cut(), Math.max(0, this.#withinMs - STOP_KEPT_MS))
  }

  /** Waits for nothing any more, as if the time were over. */
  cut(): void {
    clearTimeout(this.#timer)
    this.#isOver = true
    this.#resolve()
  }

  /** Waits for a step, at most until the end of the time. What takes longer goes on all the same. */
  async wait(step: Promise<unknown>): Promise<void> {
    await Promise.race([step, this.over])
  }
}
