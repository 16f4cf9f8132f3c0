// One timer for all agents: limits of time fall while an agent rests, and nobody is woken before.
// It is armed from the summaries, so it costs the same for one agent as for a hundred thousand.

import type { Steps } from './step-client.ts'

/** Longer than this a timer cannot be set for at once. */
const PAUSE_MS_MAX = 2 ** 31 - 1

export class WakeTimer {
  readonly #steps: Steps
  readonly #tick: (agent: string) => Promise<unknown>
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY
  #closed = false

  constructor(steps: Steps, tick: (agent: string) => Promise<unknown>) {
    this.#steps = steps
    this.#tick = tick
  }

  async arm(): Promise<void> {
    this.note(await this.#steps.nextWake())
  }

  /** Something is due then. */
  note(at: number | null): void {
    if (at === null || at >= this.#at || this.#closed) return
    this.#at = at
    clearTimeout(this.#timer)
    const pause = Math.min(PAUSE_MS_MAX, Math.max(0, at - Date.now()))
    this.#timer = setTimeout(() => void this.#fire(), pause)
    this.#timer.unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  async #fire(): Promise<void> {
    this.#at = Number.POSITIVE_INFINITY
    try {
      for (const { id } of await this.#steps.due(Date.now()))
        await this.#tick(id).catch(() => undefined)
      if (!this.#closed) await this.arm()
    } catch {
      // The thread is gone: whoever started it hears of it.
    }
  }
}
