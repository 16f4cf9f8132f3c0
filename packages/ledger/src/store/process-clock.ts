// The time of a running process while the machine's clock is set. Three readings: for expiry (never
// goes back), for idle times (not affected by a jump) and for deleting old data (never ahead). The
// audit log records the wall clock unchanged. See docs/concepts/threats-details.md.

import { performance } from 'node:perf_hooks'
import type { Instant } from '@sluice/policy/calls/clock'
import { Listeners } from '@sluice/policy/structures/listeners'

/** A clock set back by less is a correction that need not be reported. */
export const CLOCK_SET_BACK_REPORTED_MS = 60_000

const UNLIMITED = (): number => Number.POSITIVE_INFINITY

/** One reading each: reading a clock is not free, and most callers need only one of them. */
export interface Clocks {
  readonly wallMs: () => number
  readonly monotonicMs: () => number
}

export class ProcessClock {
  readonly #setBack = new Listeners<[behindMs: number]>()
  /** Once for each time that the clock was set back, with how far behind it is. */
  readonly onSetBack = this.#setBack.subscribe
  readonly #clocks: Clocks
  readonly #start: Instant
  /** The latest time seen, and its monotonic time. */
  #latest: Instant
  #isReported = false
  #limitMs: () => number = UNLIMITED

  constructor(clocks: Clocks = { wallMs: Date.now, monotonicMs: () => performance.now() }) {
    this.#clocks = clocks
    this.#start = { wallMs: clocks.wallMs(), monotonicMs: clocks.monotonicMs() }
    this.#latest = this.#start
  }

  /**
   * For expiry: what has expired stays expired if the clock is set back. Follows a clock that is
   * set forward, since a machine that slept looks the same, as far as `limitAhead` allows.
   */
  readonly nowMs = (): number => {
    const wallMs = Math.min(this.#clocks.wallMs(), Math.floor(this.#limitMs()))
    const monotonicMs = this.#clocks.monotonicMs()
    const { wallMs: latestMs, monotonicMs: sinceMs } = this.#latest
    const leastMs = Math.floor(latestMs + Math.max(0, monotonicMs - sinceMs))
    // A wall clock that ticks slightly slower is followed; the latest reading then stays unchanged.
    if (wallMs >= leastMs) this.#latest = { wallMs, monotonicMs }
    this.#report(leastMs - wallMs)
    return Math.max(wallMs, leastMs)
  }

  /**
   * A clock that others are sure of says that it is not later than this: then a clock that is set forward is
   * not followed further. Returns what ends it.
   */
  limitAhead(limitMs: () => number): () => void {
    this.#limitMs = limitMs
    return () => {
      if (this.#limitMs === limitMs) this.#limitMs = UNLIMITED
    }
  }

  /**
   * For idle times: wall time at the start plus the monotonic time since, regardless of clock
   * changes.
   */
  readonly steadyMs = (): number => {
    const { wallMs, monotonicMs } = this.#start
    return Math.floor(wallMs + Math.max(0, this.#clocks.monotonicMs() - monotonicMs))
  }

  /** For deletion by age: a clock that is set forward deletes nothing early. */
  readonly earliestMs = (): number => Math.min(this.#clocks.wallMs(), this.steadyMs())

  #report(behindMs: number): void {
    const isBehind = behindMs >= CLOCK_SET_BACK_REPORTED_MS
    if (isBehind && !this.#isReported) this.#setBack.emit(behindMs)
    this.#isReported = isBehind
  }
}

/** The clock of this process (of this thread, in a worker). */
export const processClock = new ProcessClock()
