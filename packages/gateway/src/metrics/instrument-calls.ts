// Instruments one call on its way through the gate: each step is timed, the decision and the outcome are counted,
// and it has a span if spans are exported. The call path reports to it; it decides nothing.

import { performance } from 'node:perf_hooks'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { Decision } from '@sluice/policy/calls/decision'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { CallOutcome } from '../shared/outcome.ts'
import type { TraceContext } from '../shared/transport.ts'
import { isRefusal, type Meter, type PipelineStep } from './meter.ts'

export interface CallWithFacts {
  readonly call: Call
  readonly facts: Facts
}

/** A span of a call, where spans are exported. */
export interface CallSpan {
  /** What goes along to the server, so that its spans hang below this one. */
  readonly trace: TraceContext
  decided(decision: Decision, callId: string): void
  settled(outcome: CallOutcome): void
}

export type StartSpan = (
  subject: CallWithFacts,
  parent: TraceContext | undefined,
) => CallSpan | undefined

export class CallInstrumentation {
  readonly #meter: Meter
  readonly #startSpan: StartSpan | undefined

  constructor(meter: Meter, startSpan: StartSpan | undefined) {
    this.#meter = meter
    this.#startSpan = startSpan
  }

  begin(subject: CallWithFacts, parent: TraceContext | undefined): InstrumentedCall {
    const span = this.#startSpan?.(subject, parent)
    return new InstrumentedCall(this.#meter, subject, { span, parent })
  }
}

interface CallTracing {
  readonly span: CallSpan | undefined
  readonly parent: TraceContext | undefined
}

export class InstrumentedCall {
  readonly #meter: Meter
  readonly #subject: CallWithFacts
  readonly #span: CallSpan | undefined
  readonly #parent: TraceContext | undefined
  readonly #beganMs = performance.now()
  #lastMs = this.#beganMs
  /** How long the call has waited for a person, which is no latency. */
  #waitedMs = 0

  constructor(meter: Meter, subject: CallWithFacts, { span, parent }: CallTracing) {
    this.#meter = meter
    this.#subject = subject
    this.#span = span
    this.#parent = parent
  }

  /** For the server; as it came where no span of the gate's own stands between. */
  get trace(): TraceContext | undefined {
    return this.ownTrace ?? this.#parent
  }

  get ownTrace(): TraceContext | undefined {
    return this.#span?.trace
  }

  /** What was done since the last step was this one. */
  step(step: PipelineStep): void {
    const now = performance.now()
    this.#meter.steps[step].observe(now - this.#lastMs)
    this.#lastMs = now
  }

  /** What passed since the last step may have been a wait for a person: that is no step, and no latency. Also called if
   * nobody had to be waited for. */
  leaveOutWait(): void {
    const now = performance.now()
    this.#waitedMs += now - this.#lastMs
    this.#lastMs = now
  }

  decided(decision: Decision, callId: string): void {
    const { call, facts } = this.#subject
    const isTool = call.method === TOOL_CALL
    const tool = isTool ? (facts.tool === undefined ? 'unknown' : call.name) : call.method
    // An outage is no denial: what counts denials, and alerts of them, must not see it as one.
    const action = decision.code === 'GATE_UNAVAILABLE' ? 'unavailable' : decision.action
    this.#meter.decision(call.server, tool, action, decision.code)
    if (isRefusal(action)) this.#meter.refusal(facts.session.id)
    this.#span?.decided(decision, callId)
    if (decision.action !== 'allow') this.#end(performance.now())
  }

  settled(outcome: CallOutcome): void {
    this.step('upstream')
    this.#meter.outcome(this.#subject.call.server, outcome.status)
    this.#span?.settled(outcome)
    this.#end(this.#lastMs)
  }

  #end(nowMs: number): void {
    this.#meter.steps.total.observe(nowMs - this.#beganMs - this.#waitedMs)
  }
}
