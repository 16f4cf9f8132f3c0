// In-memory counters: the single-machine driver, rebuilt from the ledger at start. Each counter
// holds its events in time order (window.ts). Expired events are dropped when they are met, so that
// the cost of a call does not depend on earlier calls. Time never runs backwards here, whatever the
// clock of the caller does.

import type { Instant } from '../calls/clock.ts'
import type {
  ConsumeResult,
  Counters,
  LimitCharge,
  LimitStatus,
  LimitUsage,
  Receipt,
} from '../calls/counters.ts'
import {
  addDecimal,
  compareDecimal,
  type Decimal,
  subtractDecimal,
  ZERO,
} from '../values/decimal.ts'
import {
  COUNTER_EVENTS_MAX,
  COUNTERS_PER_LIMIT_MAX,
  COUNTERS_SWEEP_MS,
  COUNTERS_SWEPT_MAX,
} from './limits.ts'
import { SlidingWindow } from './window.ts'

/** The events of one counter, oldest first, by their age. */
export interface CounterSnapshot {
  readonly key: string
  readonly windowMs: number
  readonly ages: readonly number[]
  readonly amounts: readonly Decimal[]
}

/**
 * Counters in memory: exact sliding windows, for one process.
 *
 * @example
 * ```ts
 * const counters = new MemoryCounters()
 * evaluate(policy, call, { counters, now: Date.now() })
 * ```
 */
export class MemoryCounters implements Counters, LimitUsage {
  readonly #counters = new Map<string, SlidingWindow>()
  #nowMs = Number.NEGATIVE_INFINITY
  readonly #eventsMax: number
  readonly #perLimitMax: number
  /** Number of counters per limit. */
  readonly #countsByLimit = new Map<string, number>()
  #sweptAtMs = Number.NEGATIVE_INFINITY
  readonly #recordedName: ((key: string) => string) | undefined
  /** The counters that were restored, by the name that records have for them. */
  readonly #restored = new Map<string, string>()
  /** The counters that are swept next. */
  #toSweep = this.#counters.entries()

  /** `recordedName`: what records write in place of a key, so that it does not show whom it is about. */
  constructor(
    options: {
      readonly eventsMax?: number
      readonly perLimitMax?: number
      readonly recordedName?: (key: string) => string
    } = {},
  ) {
    this.#recordedName = options.recordedName
    this.#eventsMax = options.eventsMax ?? COUNTER_EVENTS_MAX
    this.#perLimitMax = options.perLimitMax ?? COUNTERS_PER_LIMIT_MAX
  }

  get size(): number {
    return this.#counters.size
  }

  look(take: LimitCharge, now: Instant): LimitStatus {
    return this.#getStatus(take, take.amount, this.#advance(now))
  }

  consume(charges: readonly LimitCharge[], now: Instant): ConsumeResult {
    const nowMs = this.#advance(now)
    for (let index = 0; index < charges.length; index++) {
      const take = charges[index] as LimitCharge
      const room = this.#getStatus(take, sumCharges(charges, index), nowMs)
      if (!room.passes) return { ok: false, refused: index, room }
    }
    for (const take of charges) this.#add(take, nowMs)
    return { ok: true, receipt: { charges, atMs: nowMs } }
  }

  refund({ charges, atMs }: Receipt): void {
    for (const { key, amount } of charges) this.#counters.get(key)?.refund(amount, atMs)
  }

  restore(charges: readonly LimitCharge[], ageMs: number, now: Instant): void {
    const nowMs = this.#advance(now)
    // A negative age means that the clock jumped: the event counts as just now.
    const atMs = nowMs - Math.max(0, ageMs)
    for (const take of charges) this.#add({ ...take, key: this.#findRestored(take.key) }, atMs)
  }

  /** The counter of a key, or of the name that records have for it. */
  #findRestored(key: string): string {
    if (this.#recordedName === undefined) return key
    const name = isRecordedName(key) ? key : this.#recordedName(key)
    const known = this.#restored.get(name)
    if (known === undefined) this.#restored.set(name, key)
    return known ?? key
  }

  /** Finds a counter. One that is only known by its name in records gets its key when it is used for the first time. */
  #find(key: string): SlidingWindow | undefined {
    const counter = this.#counters.get(key)
    if (counter !== undefined || this.#restored.size === 0 || this.#recordedName === undefined)
      return counter
    const name = this.#recordedName(key)
    const restored = this.#restored.get(name)
    const found = restored === undefined ? undefined : this.#counters.get(restored)
    if (restored === undefined || found === undefined) return undefined
    this.#restored.set(name, key)
    this.#counters.delete(restored)
    this.#counters.set(key, found)
    return found
  }

  /**
   * Snapshot of the counters, for a restart that need not read the whole ledger. If a counter has
   * more than `eventsMax` events, neighbours are merged: stricter, never looser.
   */
  dump(now: Instant, eventsMax: number): CounterSnapshot[] {
    return [...this.dumpSteps(now, eventsMax)].filter((one) => one !== undefined)
  }

  /**
   * The same, one counter at a time, or nothing where a caller may pause. What is charged in a pause may
   * be part of it, with an age below zero.
   */
  *dumpSteps(now: Instant, eventsMax: number): Generator<CounterSnapshot | undefined> {
    const nowMs = this.#advance(now)
    for (const [key, counter] of this.#counters) {
      if (this.#drop(key, counter, nowMs)) continue
      for (; counter.size > eventsMax; counter.thinSome()) yield undefined
      const { times, amounts } = counter.list()
      const { windowMs } = counter
      yield { key, windowMs, ages: times.map((atMs) => nowMs - atMs), amounts }
    }
  }

  /** Restores what was counted `agoMs` before `now`. */
  load(counted: readonly CounterSnapshot[], agoMs: number, now: Instant): void {
    for (const { key, windowMs, ages, amounts } of counted)
      for (const [at, amount] of amounts.entries()) {
        const take = { key, kind: 'rate', windowMs, max: ZERO, amount } as const
        this.restore([take], (ages[at] as number) + Math.max(0, agoMs), now)
      }
  }

  /** Removes counters whose window has expired. */
  sweep(now: Instant): void {
    const nowMs = this.#advance(now)
    for (const [key, counter] of this.#counters) this.#drop(key, counter, nowMs)
  }

  /** Sweeps some counters, and the next time the next ones: all of them would take too long for a call. */
  #sweepSome(nowMs: number): void {
    for (let swept = 0; swept < COUNTERS_SWEPT_MAX; swept++) {
      const { done, value } = this.#toSweep.next()
      if (done === true) {
        this.#toSweep = this.#counters.entries()
        return
      }
      this.#drop(value[0], value[1], nowMs)
    }
  }

  /** Whether its window has expired: it is removed. */
  #drop(key: string, counter: SlidingWindow, nowMs: number): boolean {
    counter.expire(nowMs)
    if (counter.size > 0) return false
    this.#counters.delete(key)
    this.#count(key, -1)
    return true
  }

  #count(key: string, by: number): void {
    const limit = getLimitId(key)
    this.#countsByLimit.set(limit, (this.#countsByLimit.get(limit) ?? 0) + by)
  }

  /**
   * Whether the limit may have another counter. Without this bound callers choose how many exist.
   */
  #canCreate(key: string, nowMs: number): boolean {
    const isFull = () => (this.#countsByLimit.get(getLimitId(key)) ?? 0) >= this.#perLimitMax
    if (isFull() && nowMs - this.#sweptAtMs >= COUNTERS_SWEEP_MS) {
      this.#sweptAtMs = nowMs
      this.#sweepSome(nowMs)
    }
    return !isFull()
  }

  #advance({ monotonicMs }: Instant): number {
    if (monotonicMs > this.#nowMs) this.#nowMs = monotonicMs
    return this.#nowMs
  }

  #getStatus(take: LimitCharge, wanted: Decimal, nowMs: number): LimitStatus {
    const counter = this.#find(take.key)
    if (counter !== undefined) {
      counter.windowMs = take.windowMs
      counter.expire(nowMs)
    } else if (!this.#canCreate(take.key, nowMs))
      return { passes: false, remaining: ZERO, retryAfterMs: take.windowMs }
    const remaining = subtractDecimal(take.max, counter?.sum ?? ZERO)
    if (compareDecimal(wanted, remaining) <= 0) return { passes: true, remaining, retryAfterMs: 0 }
    return { passes: false, remaining, retryAfterMs: retryAfter(take, wanted, counter, nowMs) }
  }

  #add(take: LimitCharge, atMs: number): void {
    if (take.amount.units === 0n) return
    let counter = this.#find(take.key)
    if (counter === undefined) {
      counter = new SlidingWindow(take.windowMs)
      this.#counters.set(take.key, counter)
      this.#count(take.key, 1)
    }
    counter.add(take.amount, atMs)
    if (counter.size > this.#eventsMax) counter.thinSome()
  }
}

/** Whether only the name in records is known of a counter. A key has values, each with its length. */
export function isRecordedName(key: string): boolean {
  return !/\|\d+:/.test(key) && /\|~[\w-]{22}$/.test(key)
}

/** A key starts with its limit. */
function getLimitId(key: string): string {
  const end = key.indexOf('|')
  return end < 0 ? key : key.slice(0, end)
}

/** What this charge and those before it under the same key amount to. */
function sumCharges(charges: readonly LimitCharge[], index: number): Decimal {
  const take = charges[index] as LimitCharge
  let wanted = take.amount
  for (let before = 0; before < index; before++) {
    const other = charges[before] as LimitCharge
    if (other.key === take.key) wanted = addDecimal(wanted, other.amount)
  }
  return wanted
}

/** When enough events will have left the window. */
function retryAfter(
  take: LimitCharge,
  wanted: Decimal,
  counter: SlidingWindow | undefined,
  nowMs: number,
): number {
  if (compareDecimal(wanted, take.max) > 0 || counter === undefined) return Number.POSITIVE_INFINITY
  return counter.retryAfterMs(wanted, take.max, take.windowMs, nowMs)
}
