// Counters for limits: the one interface between the policy engine, which says what a call takes,
// and the stores, which keep count. Every driver passes `store/standard-tests.ts`.
// Exact sliding window: an event at time s counts at time t while t - s < windowMs.

import type { Instant } from './clock.ts'
import type { Decimal } from './decimal.ts'

/** One limit's share of one call: `amount` of `max` in the window under `key`. */
export interface LimitCharge {
  readonly key: string
  readonly kind: 'rate' | 'spend'
  readonly windowMs: number
  readonly max: Decimal
  readonly amount: Decimal
}

/** What a limit has left before the call, and when it could pass if it cannot now
 * (Infinity: never, the call alone takes more than `max`). */
export interface LimitStatus {
  readonly passes: boolean
  readonly remaining: Decimal
  readonly retryAfterMs: number
}

/** Looking consumes nothing. */
export interface LimitUsage {
  look(take: LimitCharge, now: Instant): LimitStatus
}

export type ConsumeResult =
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly refused: number; readonly room: LimitStatus }

/** What was taken, for giving it back where no byte of the call left the gate. */
export interface Receipt {
  readonly takes: readonly LimitCharge[]
  readonly atMs: number
}

export interface Counters {
  /** All takes in one step, or none. `refused` is the index of the first that does not fit. */
  consume(takes: readonly LimitCharge[], now: Instant): ConsumeResult | Promise<ConsumeResult>
  giveBack(receipt: Receipt): void | Promise<void>
  /** Puts back what was consumed `ageMs` before `now`: counters rebuilt after a restart. */
  restore(takes: readonly LimitCharge[], ageMs: number, now: Instant): void | Promise<void>
}
