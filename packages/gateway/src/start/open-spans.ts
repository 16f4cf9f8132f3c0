// The exporter of spans, if sluice.yaml names a collector.

import type { StartSpan } from '../metrics/instrument-calls.ts'

/** Opens the exporter of spans; `gate` is the name of this gate among several. It is loaded only if it is configured, because it would double the time of a start. */
export async function openSpans(
  otlp: string | undefined,
  gate: string | undefined,
  closing: AsyncDisposableStack,
): Promise<StartSpan | undefined> {
  if (otlp === undefined) return undefined
  const { startTelemetry } = await import('../metrics/telemetry.ts')
  const telemetry = startTelemetry(otlp, gate)
  closing.defer(() => telemetry.end())
  return telemetry.startSpan
}
