// One timer for all agents: schedules come, and limits of time fall while an agent rests, and nobody is woken before.
// It is armed from the summaries, so it costs the same for one agent as for a hundred thousand.

import { processClock } from '@sluice/ledger/store/process-clock'
import { WAKE_AGAIN_MS, WAKE_LOOK_MS } from '../shared/limits.ts'
import type { AppliedStep } from '../steps/stepper.ts'
import type { Steps } from './step-client.ts'

export class WakeTimer {
  readonly #steps: Steps
  readonly #tick: (agent: string) => Promise<AppliedStep>
  readonly #fireDue: (nowMs: number) => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY
  #closed = false

  constructor(
    steps: Steps,
    tick: (agent: string) => Promise<AppliedStep>,
    fireDue: (nowMs: number) => Promise<void>,
  ) {
    this.#steps = steps
    this.#tick = tick
    this.#fireDue = fireDue
  }

  /** Schedules up to `afterMs` have been looked at. */
  async arm(afterMs = 0): Promise<void> {
    this.note(await this.#steps.nextWake(afterMs))
  }

  /** Something is due then. */
  note(at: number | null): void {
    if (at === null || at >= this.#at || this.#closed) return
    this.#at = at
    clearTimeout(this.#timer)
    const pause = Math.min(WAKE_LOOK_MS, Math.max(0, at - processClock.nowMs()))
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
      const nowMs = processClock.nowMs()
      await this.#fireDue(nowMs)
      for (const { id } of await this.#steps.due(processClock.nowMs())) {
        const after = await this.#tick(id).catch(() => undefined)
        // An agent that cannot be reached, or does not respond, must not keep the timer spinning.
        if (
          after === undefined ||
          (after.agent.summary.wakeAt ?? Number.MAX_VALUE) <= processClock.nowMs()
        )
          await this.#steps.postpone(id, processClock.nowMs() + WAKE_AGAIN_MS)
      }
      if (!this.#closed) await this.arm(nowMs)
    } catch {
      // The thread has ended: its owner gets the error.
    }
  }
}
