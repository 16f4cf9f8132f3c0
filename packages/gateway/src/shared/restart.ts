// When a server that ended is started again: after 1 s, then twice as long each time up to 60 s, and
// from the beginning once it was up for 60 s. The policy is a pure function; the class runs it with
// a clock and a timer for the owner of the upstream.

import { RESTART_FIRST_MS, RESTART_HEALTHY_MS, RESTART_LAST_MS } from './limits.ts'

/** `lastDelayMs` is what was waited before the run that ended now, undefined for the first run. */
export function restartDelayMs(lastDelayMs: number | undefined, upMs: number): number {
  if (lastDelayMs === undefined || upMs >= RESTART_HEALTHY_MS) return RESTART_FIRST_MS
  return Math.min(RESTART_LAST_MS, Math.max(RESTART_FIRST_MS, lastDelayMs * 2))
}

export class Restarter {
  readonly #start: () => void
  readonly #nowMs: () => number
  #startedMs: number
  #lastDelayMs: number | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** `start` is called for every new run; the first one has begun already. */
  constructor(start: () => void, nowMs: () => number = () => performance.now()) {
    this.#start = start
    this.#nowMs = nowMs
    this.#startedMs = nowMs()
  }

  /** The run ended: says in how many ms the next one begins, or undefined if none will. */
  ended(): number | undefined {
    if (this.#stopped) return undefined
    if (this.#timer !== undefined) return this.#lastDelayMs
    this.#lastDelayMs = restartDelayMs(this.#lastDelayMs, this.#nowMs() - this.#startedMs)
    this.#timer = setTimeout(() => this.now(), this.#lastDelayMs)
    return this.#lastDelayMs
  }

  /** Somebody needs the server at once: cuts the wait short. Without one it does nothing. */
  now(): void {
    if (this.#timer === undefined || this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#startedMs = this.#nowMs()
    this.#start()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
