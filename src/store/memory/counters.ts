// Counters in memory: the driver of one machine, rebuilt from the ledger at start. Each counter
// holds its events in time order; what left the window is dropped as it is met, so a call costs
// the same whatever came before. Time never runs backwards here, whatever the caller's clock says.

import type { Instant } from '../../core/clock.ts'
import type { Consumed, Counters, Receipt, Room, Take, Usage } from '../../core/counters.ts'
import {
  addDecimal,
  compareDecimal,
  type Decimal,
  subtractDecimal,
  ZERO,
} from '../../core/decimal.ts'
import { COUNTER_EVENTS_MAX } from '../limits.ts'

interface Event {
  atMs: number
  amount: Decimal
}

interface Counter {
  events: Event[]
  /** Events before this index have left the window. */
  head: number
  sum: Decimal
  windowMs: number
}

/** The events of one counter, oldest first, by their age. */
export interface CountedKey {
  readonly key: string
  readonly windowMs: number
  readonly ages: readonly number[]
  readonly amounts: readonly Decimal[]
}

export class MemoryCounters implements Counters, Usage {
  readonly #counters = new Map<string, Counter>()
  #nowMs = Number.NEGATIVE_INFINITY
  readonly #eventsMax: number

  constructor(options: { readonly eventsMax?: number } = {}) {
    this.#eventsMax = options.eventsMax ?? COUNTER_EVENTS_MAX
  }

  get size(): number {
    return this.#counters.size
  }

  look(take: Take, now: Instant): Room {
    return this.#room(take, take.amount, this.#advance(now))
  }

  consume(takes: readonly Take[], now: Instant): Consumed {
    const nowMs = this.#advance(now)
    for (let index = 0; index < takes.length; index++) {
      const take = takes[index] as Take
      const room = this.#room(take, together(takes, index), nowMs)
      if (!room.passes) return { ok: false, refused: index, room }
    }
    for (const take of takes) this.#add(take, nowMs)
    return { ok: true, receipt: { takes, atMs: nowMs } }
  }

  giveBack({ takes, atMs }: Receipt): void {
    for (const take of takes) {
      const counter = this.#counters.get(take.key)
      if (counter === undefined) continue
      const index = eventOf(counter, take.amount, atMs)
      const event = counter.events[index]
      if (event === undefined) continue
      event.amount = subtractDecimal(event.amount, take.amount)
      counter.sum = subtractDecimal(counter.sum, take.amount)
      if (event.amount.units === 0n) counter.events.splice(index, 1)
    }
  }

  restore(takes: readonly Take[], ageMs: number, now: Instant): void {
    const nowMs = this.#advance(now)
    // An age below zero is a clock that jumped: then it happened just now.
    const atMs = nowMs - Math.max(0, ageMs)
    for (const take of takes) this.#add(take, atMs)
  }

  /** What is counted now, for a restart that need not read the whole record. Of a counter with more
   * events than `eventsMax` neighbours are merged: tighter, never looser. */
  dump(now: Instant, eventsMax: number): CountedKey[] {
    this.sweep(now)
    return [...this.#counters].map(([key, counter]) => {
      while (counter.events.length - counter.head > eventsMax) thin(counter)
      const events = counter.events.slice(counter.head)
      return {
        key,
        windowMs: counter.windowMs,
        ages: events.map(({ atMs }) => this.#nowMs - atMs),
        amounts: events.map(({ amount }) => amount),
      }
    })
  }

  /** Puts back what was counted `agoMs` before `now`. */
  load(counted: readonly CountedKey[], agoMs: number, now: Instant): void {
    for (const { key, windowMs, ages, amounts } of counted)
      for (const [at, amount] of amounts.entries()) {
        const take = { key, kind: 'rate', windowMs, max: ZERO, amount } as const
        this.restore([take], (ages[at] as number) + Math.max(0, agoMs), now)
      }
  }

  /** Forgets counters whose window is over. */
  sweep(now: Instant): void {
    const nowMs = this.#advance(now)
    for (const [key, counter] of this.#counters) {
      expire(counter, nowMs)
      if (counter.events.length === 0) this.#counters.delete(key)
    }
  }

  #advance({ monotonicMs }: Instant): number {
    if (monotonicMs > this.#nowMs) this.#nowMs = monotonicMs
    return this.#nowMs
  }

  #room(take: Take, wanted: Decimal, nowMs: number): Room {
    const counter = this.#counters.get(take.key)
    if (counter !== undefined) {
      counter.windowMs = take.windowMs
      expire(counter, nowMs)
    }
    const remaining = subtractDecimal(take.max, counter?.sum ?? ZERO)
    if (compareDecimal(wanted, remaining) <= 0) return { passes: true, remaining, retryAfterMs: 0 }
    return { passes: false, remaining, retryAfterMs: retryAfter(take, wanted, counter, nowMs) }
  }

  #add(take: Take, atMs: number): void {
    if (take.amount.units === 0n) return
    let counter = this.#counters.get(take.key)
    if (counter === undefined) {
      counter = { events: [], head: 0, sum: ZERO, windowMs: take.windowMs }
      this.#counters.set(take.key, counter)
    }
    const { events } = counter
    let index = events.length
    while (index > counter.head && (events[index - 1] as Event).atMs > atMs) index--
    if (index === events.length) events.push({ atMs, amount: take.amount })
    else events.splice(index, 0, { atMs, amount: take.amount })
    counter.sum = addDecimal(counter.sum, take.amount)
    if (events.length - counter.head > this.#eventsMax) thin(counter)
  }
}

/** What this take and those before it under the same key want together. */
function together(takes: readonly Take[], index: number): Decimal {
  const take = takes[index] as Take
  let wanted = take.amount
  for (let before = 0; before < index; before++) {
    const other = takes[before] as Take
    if (other.key === take.key) wanted = addDecimal(wanted, other.amount)
  }
  return wanted
}

/** Where a take is counted: only at its own time, since taking a later event away instead would end
 * a window too early. What was merged into a later one stays counted. */
function eventOf({ events, head }: Counter, amount: Decimal, atMs: number): number {
  let larger = -1
  for (let index = events.length - 1; index >= head; index--) {
    const event = events[index] as Event
    if (event.atMs < atMs) break
    if (event.atMs > atMs) continue
    const difference = compareDecimal(event.amount, amount)
    if (difference === 0) return index
    if (difference > 0) larger = index
  }
  return larger
}

function expire(counter: Counter, nowMs: number): void {
  const { events, windowMs } = counter
  while (counter.head < events.length) {
    const event = events[counter.head] as Event
    // Asked this way round, so that a clock that says NaN or Infinity lets nothing leave.
    if (!(nowMs - event.atMs >= windowMs)) break
    counter.sum = subtractDecimal(counter.sum, event.amount)
    counter.head++
  }
  // Dropped in bulk, so that each event is moved once at most.
  if (counter.head > 16 && counter.head * 2 > events.length) {
    events.splice(0, counter.head)
    counter.head = 0
  }
  if (counter.head === events.length) {
    events.length = 0
    counter.head = 0
  }
}

/** When enough events will have left the window. */
function retryAfter(
  take: Take,
  wanted: Decimal,
  counter: Counter | undefined,
  nowMs: number,
): number {
  if (compareDecimal(wanted, take.max) > 0 || counter === undefined) return Number.POSITIVE_INFINITY
  let sum = addDecimal(counter.sum, wanted)
  for (let index = counter.head; ; index++) {
    const event = counter.events[index] as Event
    sum = subtractDecimal(sum, event.amount)
    if (compareDecimal(sum, take.max) <= 0) return event.atMs + take.windowMs - nowMs
  }
}

/** Merges neighbours into the later of the two: never looser, and bounded. */
function thin(counter: Counter): void {
  const merged: Event[] = []
  for (let index = counter.head; index < counter.events.length; index += 2) {
    const first = counter.events[index] as Event
    const second = counter.events[index + 1]
    merged.push(
      second === undefined
        ? first
        : { atMs: second.atMs, amount: addDecimal(first.amount, second.amount) },
    )
  }
  counter.events = merged
  counter.head = 0
}
