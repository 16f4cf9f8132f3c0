// One call as it goes through the gate, watched: each step timed, the verdict and the outcome counted,
// and a span for it where traces are exported. The spine tells it what happens; it decides nothing.

import { performance } from 'node:perf_hooks'
import type { Call, Facts } from '@sluice/policy/core/call'
import type { Decision } from '@sluice/policy/core/decision'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { Outcome } from '../shared/outcome.ts'
import type { Trace } from '../shared/transport.ts'
import type { Meter, Step } from './meter.ts'

export interface Watched {
  readonly call: Call
  readonly facts: Facts
}

/** A span of a call, where spans are exported. */
export interface CallSpan {
  /** What goes along to the server, so that its spans hang below this one. */
  readonly trace: Trace
  decided(decision: Decision, callId: string): void
  settled(outcome: Outcome): void
}

/** Whoever looks on while calls pass. Asked on the way of every call, so it does next to nothing. */
export interface CallTap {
  /** What it gives is told how the call ended. */
  decided(watched: Watched, decision: Decision, callId: string): TappedCall | undefined
}

export interface TappedCall {
  settled(status: Outcome['status'], durationMs: number): void
}

export type StartSpan = (watched: Watched, parent: Trace | undefined) => CallSpan | undefined

export class CallWatch {
  readonly #meter: Meter
  readonly #startSpan: StartSpan | undefined
  /** Undefined while nobody looks on. */
  tap: CallTap | undefined

  constructor(meter: Meter, startSpan: StartSpan | undefined) {
    this.#meter = meter
    this.#startSpan = startSpan
  }

  begin(watched: Watched, parent: Trace | undefined): WatchedCall {
    const span = this.#startSpan?.(watched, parent)
    return new WatchedCall(this.#meter, watched, span, parent, this.tap)
  }
}

export class WatchedCall {
  readonly #meter: Meter
  readonly #watched: Watched
  readonly #span: CallSpan | undefined
  readonly #parent: Trace | undefined
  readonly #tap: CallTap | undefined
  #tapped: TappedCall | undefined
  readonly #beganMs = performance.now()
  #lastMs = this.#beganMs

  constructor(
    meter: Meter,
    watched: Watched,
    span: CallSpan | undefined,
    parent: Trace | undefined,
    tap: CallTap | undefined,
  ) {
    this.#meter = meter
    this.#watched = watched
    this.#span = span
    this.#parent = parent
    this.#tap = tap
  }

  /** For the server; as it came where no span of the gate's own stands between. */
  get trace(): Trace | undefined {
    return this.ownTrace ?? this.#parent
  }

  get ownTrace(): Trace | undefined {
    return this.#span?.trace
  }

  /** What was done since the last step was this one. */
  step(step: Step): void {
    const now = performance.now()
    this.#meter.steps[step].observe(now - this.#lastMs)
    this.#lastMs = now
  }

  decided(decision: Decision, callId: string): void {
    const { call, facts } = this.#watched
    const isTool = call.method === TOOL_CALL
    const tool = isTool ? (facts.tool === undefined ? 'unknown' : call.name) : call.method
    this.#meter.decision(call.server, tool, decision.action, decision.code)
    this.#span?.decided(decision, callId)
    if (this.#tap !== undefined) this.#tapped = this.#tap.decided(this.#watched, decision, callId)
    if (decision.action !== 'allow') this.#end(performance.now())
  }

  settled(outcome: Outcome): void {
    this.step('upstream')
    this.#meter.outcome(this.#watched.call.server, outcome.status)
    this.#span?.settled(outcome)
    this.#tapped?.settled(outcome.status, this.#lastMs - this.#beganMs)
    this.#end(this.#lastMs)
  }

  #end(nowMs: number): void {
    this.#meter.steps.total.observe(nowMs - this.#beganMs)
  }
}
