// Figures of the running gate as they are counted: decisions, outcomes, and how long each step took.
// On the way of every call, so nothing here costs more than a look into a map; it is put into words
// only when somebody asks (write-metrics.ts).

import { LruMap } from '@sluice/policy/structures/lru-map'
import { DECISION_SERIES_MAX, REFUSED_SESSIONS_MAX } from './limits.ts'

export const STEPS = ['read', 'decide', 'limits', 'intent', 'upstream', 'total'] as const
export type PipelineStep = (typeof STEPS)[number]

/** Upper bounds in milliseconds: from a step of the gate's own to a call that takes minutes. */
export const BOUNDS_MS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500,
  5_000, 10_000, 30_000, 60_000, 300_000,
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
  readonly steps: Readonly<Record<PipelineStep, Histogram>> = {
    read: new Histogram(),
    decide: new Histogram(),
    limits: new Histogram(),
    intent: new Histogram(),
    upstream: new Histogram(),
    total: new Histogram(),
  }
  /** By code, action, tool and server, and by status and server: to put the words together for one
   * key would cost more than all the looks. */
  readonly #byCode = new Map<string, Map<string, Map<string, Map<string, Series>>>>()
  readonly #byStatus = new Map<string, Map<string, Series>>()
  readonly #stalls = new Map<string, { readonly count: Series; readonly seconds: Series }>()
  readonly #decisions: Series[] = []
  /** Refused calls by session, for alerts: a metrics server gets no series for each session. */
  readonly refusals = new LruMap<string, number>(REFUSED_SESSIONS_MAX)
  readonly #outcomes: Series[] = []

  /** `tool` is a name that a server listed, or a method: never what a caller made up. */
  decision(server: string, tool: string, action: string, code: string): void {
    const series = this.#byCode.get(code)?.get(action)?.get(tool)?.get(server)
    if (series !== undefined) {
      series.value++
      return
    }
    // A server that lists new names all day must not fill the memory of the gate or of the metrics server.
    const isFull = this.#decisions.length >= DECISION_SERIES_MAX
    if (isFull && tool !== OTHER) return this.decision(server, OTHER, action, code)
    const made = { labels: { server, tool, action, code }, value: 1 }
    getOrCreateInner(getOrCreateInner(getOrCreateInner(this.#byCode, code), action), tool).set(
      server,
      made,
    )
    this.#decisions.push(made)
  }

  refusal(session: string): void {
    this.refusals.set(session, (this.refusals.get(session) ?? 0) + 1)
  }

  outcome(server: string, status: string): void {
    const series = this.#byStatus.get(status)?.get(server)
    if (series !== undefined) {
      series.value++
      return
    }
    const made = { labels: { server, status }, value: 1 }
    getOrCreateInner(this.#byStatus, status).set(server, made)
    this.#outcomes.push(made)
  }

  /** The event loop stood still, in a step of current-step.ts. */
  stall(step: string, ms: number): void {
    let series = this.#stalls.get(step)
    if (series === undefined) {
      const labels = { step }
      series = { count: { labels, value: 0 }, seconds: { labels, value: 0 } }
      this.#stalls.set(step, series)
    }
    series.count.value++
    series.seconds.value += ms / 1_000
  }

  get stalls(): readonly Series[] {
    return [...this.#stalls.values()].map(({ count }) => count)
  }

  get stallSeconds(): readonly Series[] {
    return [...this.#stalls.values()].map(({ seconds }) => seconds)
  }

  get decisions(): readonly Series[] {
    return this.#decisions
  }

  get outcomes(): readonly Series[] {
    return this.#outcomes
  }
}

/** A call that an outage stopped (`unavailable`) is none. */
export function isRefusal(action: string | undefined): boolean {
  return action === 'deny' || action === 'hide'
}

function getOrCreateInner<Value>(
  map: Map<string, Map<string, Value>>,
  key: string,
): Map<string, Value> {
  const there = map.get(key)
  if (there !== undefined) return there
  const made = new Map<string, Value>()
  map.set(key, made)
  return made
}

const OTHER = 'other'
