import type { Call, Facts } from '../core/call.ts'
import type { Instant } from '../core/clock.ts'
import type { Counters, Usage } from '../core/counters.ts'
import type { Decision } from '../core/decision.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
/** A call with what was decided on it, for the record. */
export interface Judged {
  readonly call: Call
  readonly facts: Facts
  readonly decision: Decision
  /** The arguments as they were read; undefined where there are none. */
  readonly argsText: string | undefined
  readonly now: Instant
}
/** The record, as far as the spine needs it. */
export interface CallRecord {
  /** Resolves when the intent is durable, with its number; rejects where it cannot be written. */
  intent(judged: Judged): Promise<number>
  refusal(judged: Judged): void
}
export interface Spine {
  readonly policy: () => CompiledPolicy
  readonly counters: Counters & Usage
  readonly record: CallRecord
  readonly now: () => Instant
}
export type Admitted =
  | {
      readonly admitted: true
      readonly intent: number
    }
  | {
      readonly admitted: false
      readonly decision: Decision
    }
export declare function admit(
  spine: Spine,
  call: Call,
  facts: Facts,
  argsText: string | undefined,
): Promise<Admitted>
