// Counters for limits: the interface between the policy engine, which computes what a call
// consumes, and the stores, which count. Every driver passes `counters/counters.test-support.ts`.
// Exact sliding window: an event at time s counts at time t while t - s < windowMs.

import { compareDecimal, type Decimal } from '../values/decimal.ts'
import type { Instant } from './clock.ts'

/**
 * What one call consumes from one limit: `amount` of `max` in the window under `key`.
 *
 * @example
 * ```ts
 * const [charge] = decision.limits
 * console.log(charge?.key, charge?.windowMs)
 * ```
 */
export interface LimitCharge {
  readonly key: string
  readonly kind: 'rate' | 'spend'
  readonly windowMs: number
  readonly max: Decimal
  readonly amount: Decimal
}

/** In the id of a limit whose `amount` is a number, which is the price of a call. */
export const PRICE = 'price'

/** The price of a call, the highest if several limits have one; undefined if none has. */
export function findPrice(charges: readonly LimitCharge[]): Decimal | undefined {
  let price: Decimal | undefined
  for (const { key, amount } of charges) {
    // A key begins with the id of its limit; what follows may be of the caller.
    const isPrice = /\|(rate|spend|price)\|/.exec(key)?.[1] === PRICE
    if (isPrice && (price === undefined || compareDecimal(amount, price) > 0)) price = amount
  }
  return price
}

/**
 * What a limit has left before the call, and the retry time if the call does not
 * fit (`Infinity`: never, because the call alone exceeds `max`).
 *
 * @example
 * ```ts
 * const { passes, retryAfterMs } = counters.look(charge, now)
 * ```
 */
export interface LimitStatus {
  readonly passes: boolean
  readonly remaining: Decimal
  readonly retryAfterMs: number
}

/**
 * Reads limits without charging them.
 *
 * @example
 * ```ts
 * const usage: LimitUsage = new MemoryCounters()
 * ```
 */
export interface LimitUsage {
  look(take: LimitCharge, now: Instant): LimitStatus
}

/**
 * Whether all charges fitted, and if not, which one did not.
 *
 * @example
 * ```ts
 * const result = counters.consume(decision.limits, now)
 * if (!result.ok) console.log('try again in', result.room.retryAfterMs)
 * ```
 */
export type ConsumeResult =
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly refused: number; readonly room: LimitStatus }

/**
 * What was charged, for a refund if no byte of the call was sent.
 *
 * @example
 * ```ts
 * if (result.ok) counters.refund(result.receipt)
 * ```
 */
export interface Receipt {
  readonly charges: readonly LimitCharge[]
  readonly atMs: number
}

/**
 * Charges limits, synchronously. `MemoryCounters` is the one for a single process.
 *
 * @example
 * ```ts
 * const counters: Counters = new MemoryCounters()
 * ```
 */
export interface Counters {
  /**
   * Consumes all charges atomically, or none. `refused` is the index of the first that does not
   * fit.
   */
  consume(charges: readonly LimitCharge[], now: Instant): ConsumeResult
  refund(receipt: Receipt): void
  /** Restores what was consumed `ageMs` before `now`: counters are rebuilt after a restart. */
  restore(charges: readonly LimitCharge[], ageMs: number, now: Instant): void
}
