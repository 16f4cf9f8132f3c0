// The last five minutes of the gate, second by second, counted whether or not somebody looks: the
// console's totals are exact for the window they name. Reads the gate's own counters once a second.

import { toOutcomeLabel } from '../../core/outcome-label.ts'
import type { Meter } from '../../gateway/metrics/meter.ts'
import { LIVE_HISTORY_COUNTS_MAX, LIVE_HISTORY_S } from '../contract/console-limits.ts'
import type { LiveCounts, LiveSecond } from '../contract/contract-live.ts'

/** What was counted since it was asked last. */
export class CountsSince {
  readonly #meter: Pick<Meter, 'decisions' | 'steps'>
  /** What each series of the meter, which are only ever added to, had counted by then. */
  #counted = new Float64Array(256)
  readonly #latency: Float64Array

  constructor(meter: Pick<Meter, 'decisions' | 'steps'>) {
    this.#meter = meter
    this.#latency = new Float64Array(meter.steps.total.counts.length)
  }

  counts(): LiveCounts {
    const counts: LiveCounts[number][] = []
    const series = this.#meter.decisions
    if (series.length > this.#counted.length) {
      const wider = new Float64Array(series.length * 2)
      wider.set(this.#counted)
      this.#counted = wider
    }
    for (let at = 0; at < series.length; at++) {
      const { value, labels } = series[at] as (typeof series)[number]
      const before = this.#counted[at] as number
      if (value === before) continue
      this.#counted[at] = value
      const { server = '', tool = '', action = '', code = '' } = labels
      counts.push([server, tool, toOutcomeLabel(action, code), value - before])
    }
    return counts
  }

  latency(): number[] {
    const now = this.#meter.steps.total.counts
    const came = Array.from(now, (count, at) => count - (this.#latency[at] as number))
    this.#latency.set(now)
    return came
  }
}

export class LiveHistory {
  readonly #since: CountsSince
  readonly #nowMs: () => number
  readonly #startMs: number
  readonly #timer: NodeJS.Timeout
  #seconds: LiveSecond[] = []

  constructor(meter: Pick<Meter, 'decisions' | 'steps'>, nowMs: () => number) {
    this.#since = new CountsSince(meter)
    // The gate may have counted for days before somebody looked for the first time.
    this.#since.counts()
    this.#since.latency()
    this.#nowMs = nowMs
    this.#startMs = nowMs()
    this.#timer = setInterval(() => this.#take(), 1_000).unref()
  }

  /** Up to this moment. */
  read(): { readonly sinceMs: number; readonly seconds: readonly LiveSecond[] } {
    this.#take()
    const fromMs = this.#nowMs() - LIVE_HISTORY_S * 1_000
    return { sinceMs: Math.max(this.#startMs, fromMs), seconds: this.#seconds }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #take(): void {
    const counts = this.#since.counts()
    const latency = this.#since.latency()
    const atMs = this.#nowMs()
    if (counts.length > 0 || latency.some((count) => count > 0))
      this.#seconds.push({ atMs, counts: mergeRare(counts), latency })
    const first = this.#seconds.findIndex((second) => second.atMs > atMs - LIVE_HISTORY_S * 1_000)
    this.#seconds = first < 0 ? [] : first === 0 ? this.#seconds : this.#seconds.slice(first)
  }
}

/** Tools beyond the bound are counted without their names: a gate with thousands stays small. */
function mergeRare(counts: LiveCounts): LiveCounts {
  if (counts.length <= LIVE_HISTORY_COUNTS_MAX) return counts
  const sorted = counts.toSorted((one, other) => other[3] - one[3])
  const rest = new Map<string, LiveCounts[number]>()
  for (const [server, , word, n] of sorted.slice(LIVE_HISTORY_COUNTS_MAX)) {
    const key = `${server}\n${word}`
    rest.set(key, [server, '', word, (rest.get(key)?.[3] ?? 0) + n])
  }
  return [...sorted.slice(0, LIVE_HISTORY_COUNTS_MAX), ...rest.values()]
}
