// The gate's figures in the format of Prometheus. The library that knows the format, and brings those
// of the process (memory, event loop, garbage collection), is loaded when somebody first asks.

import type { Registry } from 'prom-client'
import { BOUNDS_MS, type Meter, type Series, STEPS } from './meter.ts'

/** A figure that is looked at when it is asked for. */
export interface Gauge {
  readonly name: string
  readonly help: string
  readonly read: () => readonly Series[]
}

export class MetricsWriter {
  readonly #meter: Meter
  readonly #gauges: readonly Gauge[]
  #registry: Promise<Registry> | undefined

  constructor(meter: Meter, gauges: readonly Gauge[]) {
    this.#meter = meter
    this.#gauges = gauges
  }

  async write(): Promise<{ readonly type: string; readonly text: string }> {
    this.#registry ??= this.#load()
    const registry = await this.#registry
    return { type: registry.contentType, text: await registry.metrics() }
  }

  async #load(): Promise<Registry> {
    const { default: prometheus } = await import('prom-client')
    const registry = new prometheus.Registry()
    prometheus.collectDefaultMetrics({ register: registry })
    const meter = this.#meter
    const counters = [
      ['sluice_decisions_total', 'Decisions, by server, tool, action and code.', 'decisions'],
      ['sluice_outcomes_total', 'How calls that went on ended.', 'outcomes'],
      ['sluice_stalls_total', 'Stalls of the event loop over 100 ms, by step.', 'stalls'],
      ['sluice_stall_seconds_total', 'How long those stalls took.', 'stallSeconds'],
    ] as const
    for (const [name, help, of] of counters)
      registry.registerMetric(metric(name, help, 'counter', () => meter[of]))
    for (const { name, help, read } of this.#gauges)
      registry.registerMetric(metric(name, help, 'gauge', read))
    const name = 'sluice_step_seconds'
    const help = 'How long the steps of a call take.'
    registry.registerMetric(metric(name, help, 'histogram', () => stepSeries(meter, name)))
    return registry
  }
}

type Metric = Parameters<Registry['registerMetric']>[0]
type Sample = Series & { readonly metricName?: string }

/** The registry asks a metric for nothing but its name and values. The types of the library have classes alone, which
 * store each value a second time. */
function metric(name: string, help: string, type: string, read: () => readonly Sample[]): Metric {
  const get = async () => ({ name, help, type, aggregator: 'sum', values: read() })
  return { name, get } as unknown as Metric
}

function stepSeries(meter: Meter, name: string): Sample[] {
  return STEPS.flatMap((step) => {
    const { counts, sumMs } = meter.steps[step]
    let count = 0
    const buckets = [...counts].map((inside, at): Sample => {
      count += inside
      const bound = BOUNDS_MS[at]
      const le = bound === undefined ? '+Inf' : String(bound / 1_000)
      return { metricName: `${name}_bucket`, labels: { step, le }, value: count }
    })
    const labels = { step }
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sumMs / 1_000 },
      { metricName: `${name}_count`, labels, value: count },
    ]
  })
}
