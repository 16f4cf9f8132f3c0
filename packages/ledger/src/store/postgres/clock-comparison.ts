// The clock of this gate compared with that of the database, at any moment: since the database was last asked the
// monotonic clock counts, so that a clock that is set is noticed at once and not with the next answer. While it is
// open, expiry does not follow a clock that is set forward, unless the database agrees.

import { CLOCK_FOLLOWED_MS_MAX, CLOCK_SKEW_MS_MAX } from '../limits.ts'
import { type Clocks, ProcessClock, processClock } from '../process-clock.ts'

/** The database read its clock at some time between two readings of the monotonic clock here. */
export interface DatabaseTime {
  readonly databaseMs: number
  readonly askedMs: number
  readonly answeredMs: number
}

const OWN: Clocks = { wallMs: Date.now, monotonicMs: () => performance.now() }

export class ClockComparison {
  readonly #clocks: Clocks
  /** What expiry goes by: it stays ahead if the clock was ahead and is set back. */
  readonly #expiry: ProcessClock
  readonly #unlimit: () => void
  #time: DatabaseTime | undefined

  constructor(clocks: Clocks = OWN) {
    this.#clocks = clocks
    this.#expiry = clocks === OWN ? processClock : new ProcessClock(clocks)
    this.#unlimit = this.#expiry.limitAhead(() => this.#latestMs + CLOCK_FOLLOWED_MS_MAX)
  }

  note(time: DatabaseTime): void {
    this.#time = time
  }

  /** What is wrong with the clock of this gate; undefined if nothing is, or the database was not asked yet. */
  get fault(): string | undefined {
    const { wallMs } = this.#clocks
    const behindMs = this.#earliestMs - wallMs()
    if (behindMs > CLOCK_SKEW_MS_MAX)
      return `the clock of this gate is ${toSeconds(behindMs)} s behind that of the database`
    const aheadMs = wallMs() - this.#latestMs
    if (aheadMs > CLOCK_SKEW_MS_MAX)
      return `the clock of this gate is ${toSeconds(aheadMs)} s ahead of that of the database`
    const wasAheadMs = this.#expiry.nowMs() - this.#latestMs
    if (wasAheadMs <= CLOCK_SKEW_MS_MAX) return undefined
    return `the clock of this gate was ${toSeconds(wasAheadMs)} s ahead of that of the database at its start: restart it`
  }

  close(): void {
    this.#unlimit()
  }

  /** The time of the database, at least. */
  get #earliestMs(): number {
    if (this.#time === undefined) return Number.NEGATIVE_INFINITY
    const { databaseMs, answeredMs } = this.#time
    return databaseMs + this.#clocks.monotonicMs() - answeredMs
  }

  /** And at most. */
  get #latestMs(): number {
    if (this.#time === undefined) return Number.POSITIVE_INFINITY
    const { databaseMs, askedMs } = this.#time
    return databaseMs + this.#clocks.monotonicMs() - askedMs
  }
}

function toSeconds(ms: number): number {
  return Math.round(ms / 1_000)
}
