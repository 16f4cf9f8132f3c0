// Spans of calls for OpenTelemetry, by the conventions for MCP and GenAI: one for what the gate does
// with a call, and below it one for what the server does. Never arguments or answers. Loaded only where
// an exporter is configured; a collector that is slow or gone costs spans and nothing else.

import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace as traces,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { displayName } from '@sluice/access/identity/display-name'
import type { Decision } from '@sluice/policy/calls/decision'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CallOutcome } from '../shared/outcome.ts'
import { readPackageVersion } from '../shared/package-version.ts'
import type { TraceContext } from '../shared/transport.ts'
import { withTimeout } from '../shared/with-timeout.ts'
import type { CallSpan, CallWithFacts, StartSpan } from './instrument-calls.ts'
import { TELEMETRY_END_MS_MAX, TELEMETRY_EVERY_MS, TELEMETRY_SPANS_MAX } from './limits.ts'

export interface Telemetry {
  readonly startSpan: StartSpan
  /** Sends what is left, for a while. */
  end(): Promise<void>
}

/** `url` is that of the collector; spans go to `/v1/traces` below it. `gate`: the name of this gate among several. */
export function startTelemetry(url: string, gate?: string): Telemetry {
  const traceUrl = /\/v1\/traces\/?$/.test(url) ? url : `${url.replace(/\/$/, '')}/v1/traces`
  const exporter = new OTLPTraceExporter({ url: traceUrl })
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: TELEMETRY_SPANS_MAX,
    scheduledDelayMillis: TELEMETRY_EVERY_MS,
  })
  const provider = new TracerProvider({
    // Whatever a caller says: it must not choose whether its calls are seen.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [processor],
    resource: resourceOf({
      'service.name': process.env.OTEL_SERVICE_NAME || 'sluice',
      'service.version': readPackageVersion(),
      ...(gate === undefined ? {} : { 'service.instance.id': gate }),
    }),
  })
  const tracer = provider.getTracer('sluice', readPackageVersion())
  return {
    startSpan: (subject, parent) => new GateSpan(tracer, subject, parent),
    end: async () => {
      await withTimeout(provider.shutdown(), TELEMETRY_END_MS_MAX).catch(() => {})
    },
  }
}

/** Who sends the spans: all that an exporter asks of a resource. */
function resourceOf(attributes: Readonly<Record<string, string>>) {
  const resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: (): [string, string][] => Object.entries(attributes),
  }
  return resource
}

class GateSpan implements CallSpan {
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #context: Context
  readonly #name: string
  readonly #attributes: Record<string, string>
  readonly #state: string | undefined
  #below: Span | undefined

  constructor(tracer: Tracer, subject: CallWithFacts, parent: TraceContext | undefined) {
    const attributes = attributesOf(subject)
    const target = attributes['gen_ai.tool.name'] ?? attributes['gen_ai.prompt.name']
    const { method } = subject.call
    this.#tracer = tracer
    this.#attributes = attributes
    this.#name = target === undefined ? method : `${method} ${target}`
    this.#state = parent?.tracestate
    const above = contextOf(parent)
    this.#span = tracer.startSpan(this.#name, { kind: SpanKind.SERVER, attributes }, above)
    this.#context = traces.setSpan(above, this.#span)
  }

  get trace(): TraceContext {
    const { traceId, spanId, traceFlags } = (this.#below ?? this.#span).spanContext()
    const flags = traceFlags.toString(16).padStart(2, '0')
    return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: this.#state }
  }

  decided({ action, code, rule }: Decision, callId: string): void {
    this.#span.setAttributes({
      'sluice.decision': action,
      'sluice.code': code,
      'sluice.rule': rule,
      'sluice.call.id': callId,
    })
    if (action === 'allow') {
      const options = { kind: SpanKind.CLIENT, attributes: this.#attributes }
      this.#below = this.#tracer.startSpan(this.#name, options, this.#context)
      return
    }
    fail(this.#span, code)
    this.#span.end()
  }

  settled({ status, errorCode }: CallOutcome): void {
    for (const span of [this.#below, this.#span]) {
      if (errorCode !== undefined) span?.setAttribute('rpc.response.status_code', String(errorCode))
      if (span !== undefined && status !== 'answered')
        fail(span, errorCode === undefined ? status : String(errorCode))
      span?.end()
    }
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function attributesOf({ call, facts }: CallWithFacts): Record<string, string> {
  const { method, name, server } = call
  return {
    'mcp.method.name': method,
    'mcp.session.id': facts.session.id,
    'network.transport': facts.transport === 'stdio' ? 'pipe' : 'tcp',
    'sluice.server': server,
    'sluice.principal.id': facts.principal.id,
    ...(method === TOOL_CALL
      ? { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name }
      : {}),
    ...(method === 'prompts/get' ? { 'gen_ai.prompt.name': name } : {}),
    ...(method.startsWith('resources/') ? { 'mcp.resource.uri': displayName(method, name) } : {}),
  }
}

/** The client's span, if it named one in the exact form; otherwise a trace begins here. */
function contextOf(parent: TraceContext | undefined): Context {
  const match = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(
    parent?.traceparent ?? '',
  )
  const [, traceId = '', spanId = ''] = match ?? []
  if (match === null || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return ROOT_CONTEXT
  const traceFlags = TraceFlags.SAMPLED
  return traces.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}
