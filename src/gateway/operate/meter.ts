// Figures of the running gate as they are counted: decisions, outcomes, and how long each step took.
// On the way of every call, so nothing here costs more than a look into a map; it is put into words
// only when somebody asks (write-metrics.ts).

import { DECISION_SERIES_MAX } from '../limits.ts'

export const STEPS = ['read', 'decide', 'limits', 'intent', 'upstream', 'total'] as const
export type Step = (typeof STEPS)[number]

/** Upper bounds in milliseconds: from a step of the gate's own to a call that takes minutes. */
export const BOUNDS_MS: readonly number[] = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500],
  ...[1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000],
]

export class Histogram {
  /** Not cumulative; the last is for what is beyond all bounds. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1)
  sumMs = 0

  observe(ms: number): void {
    let at = 0
    while (at < BOUNDS_MS.length && ms > (BOUNDS_MS[at] as number)) at++
    this.counts[at] = (this.counts[at] as number) + 1
    this.sumMs += ms
  }
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>
  value: number
}

export class Meter {
  readonly steps: Readonly<Record<Step, Histogram>> = {
    read: new Histogram(),
    decide: new Histogram(),
    limits: new Histogram(),
    intent: new Histogram(),
    upstream: new Histogram(),
    total: new Histogram(),
  }
  readonly #decisions = new Map<string, Series>()
  readonly #outcomes = new Map<string, Series>()

  /** `tool` is a name that a server listed, or a method: never what a caller made up. */
  decision(server: string, tool: string, action: string, code: string): void {
    const key = `${server}\n${tool}\n${action}\n${code}`
    const series = this.#decisions.get(key)
    if (series !== undefined) {
      series.value++
      return
    }
    // A server that lists new names all day must not fill the memory, nor whoever reads the figures.
    const isFull = this.#decisions.size >= DECISION_SERIES_MAX
    if (isFull && tool !== OTHER) return this.decision(server, OTHER, action, code)
    this.#decisions.set(key, { labels: { server, tool, action, code }, value: 1 })
  }

  outcome(server: string, status: string): void {
    const key = `${server}\n${status}`
    const series = this.#outcomes.get(key)
    if (series !== undefined) series.value++
    else this.#outcomes.set(key, { labels: { server, status }, value: 1 })
  }

  get decisions(): readonly Series[] {
    return [...this.#decisions.values()]
  }

  get outcomes(): readonly Series[] {
    return [...this.#outcomes.values()]
  }
}

const OTHER = 'other'
