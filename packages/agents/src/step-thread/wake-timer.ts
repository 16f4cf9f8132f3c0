// One timer for all agents: limits of time fall while an agent rests, and nobody is woken before.
// It is armed from the summaries, so it costs the same for one agent as for a hundred thousand.

import { processClock } from '@sluice/ledger/store/process-clock'
import { WAKE_AGAIN_MS } from '../shared/limits.ts'
import type { AppliedStep } from '../steps/stepper.ts'
import type { Steps } from './step-client.ts'

/** Longer than this a timer cannot be set for at once. */
const PAUSE_MS_MAX = 2 ** 31 - 1

export class WakeTimer {
  readonly #steps: Steps
  readonly #tick: (agent: string) => Promise<AppliedStep>
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY
  #closed = false

  constructor(steps: Steps, tick: (agent: string) => Promise<AppliedStep>) {
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
    const pause = Math.min(PAUSE_MS_MAX, Math.max(0, at - processClock.nowMs()))
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
      for (const { id } of await this.#steps.due(processClock.nowMs())) {
        const after = await this.#tick(id).catch(() => undefined)
        // An agent that cannot be reached, or does not respond, must not keep the timer spinning.
        if (
          after === undefined ||
          (after.agent.summary.wakeAt ?? Number.MAX_VALUE) <= processClock.nowMs()
        )
          await this.#steps.postpone(id, processClock.nowMs() + WAKE_AGAIN_MS)
      }
      if (!this.#closed) await this.arm()
    } catch {
      // The thread has ended: its owner gets the error.
    }
  }
}
