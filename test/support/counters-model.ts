// A reference model of counters, which every driver must equal: arbitrary histories, a player that
// compares a driver's results with a plain list of events, and shorthands for charges.

import type { Instant } from '@sluice/policy/calls/clock'
import type {
  ConsumeResult,
  Counters,
  LimitCharge,
  LimitStatus,
  LimitUsage,
  Receipt,
} from '@sluice/policy/calls/counters'
import { type Decimal, formatDecimal, parseDecimal } from '@sluice/policy/values/decimal'
import fc from 'fast-check'
import { expect } from 'vitest'
import { runs } from './runs.ts'

/** Runs of each property. */
export const RUNS = runs(200)
export const WINDOW_MS = 60_000

interface KeyLimit {
  readonly maxTenths: number
  readonly windowMs: number
}

interface Step {
  readonly does: 'consume' | 'refund' | 'restore'
  /** May be negative: a clock that jumps back. */
  readonly afterMs: number
  readonly wants: readonly { readonly key: number; readonly tenths: number }[]
  /** Which receipt is refunded, or the age of what is restored. */
  readonly pick: number
}

export interface History {
  readonly limits: readonly KeyLimit[]
  readonly steps: readonly Step[]
}

const KEYS = 3
const jump = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 30 }) },
  { weight: 1, arbitrary: fc.integer({ min: -200, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 400 }) },
)
const want = fc.record({
  key: fc.nat({ max: KEYS - 1 }),
  tenths: fc.oneof(fc.constantFrom(0, 1, 10), fc.nat({ max: 45 })),
})

/** Arrivals, amounts, windows and clock jumps, on keys whose limit stays. */
export const arbitraryHistory: fc.Arbitrary<History> = fc.record({
  limits: fc.array(
    fc.record({
      maxTenths: fc.integer({ min: 1, max: 50 }),
      windowMs: fc.integer({ min: 1, max: 100 }),
    }),
    { minLength: KEYS, maxLength: KEYS },
  ),
  steps: fc.array(
    fc.record({
      does: fc.constantFrom('consume', 'consume', 'consume', 'consume', 'refund', 'restore'),
      afterMs: jump,
      wants: fc.array(want, { minLength: 1, maxLength: 4 }),
      pick: fc.integer({ min: -20, max: 120 }),
    }) as fc.Arbitrary<Step>,
    { maxLength: 60 },
  ),
})

interface Event {
  readonly key: number
  readonly atMs: number
  readonly tenths: number
}

/**
 * Plays a history and compares every result with a plain list of what was consumed. `exactly`: the
 * same results. `never looser`: what passes would pass there too. Returns what was consumed.
 */
export async function follow(
  counters: Counters,
  history: History,
  demand: 'exactly' | 'never looser',
): Promise<Event[]> {
  const { limits, steps } = history
  let events: Event[] = []
  const receipts: { receipt: Receipt; taken: Event[] }[] = []
  let clockMs = 1_000
  let latestMs = Number.NEGATIVE_INFINITY
  for (const { does, afterMs, wants, pick } of steps) {
    clockMs += afterMs
    // A refund has no time argument.
    if (does !== 'refund') latestMs = Math.max(latestMs, clockMs)
    const charges = wants.map(({ key, tenths }) =>
      createCharge(key, tenths, limits[key] as KeyLimit),
    )
    if (does === 'restore') {
      await counters.restore(charges, pick, instant(clockMs))
      const atMs = latestMs - Math.max(0, pick)
      events.push(...wants.map(({ key, tenths }) => ({ key, atMs, tenths })))
    } else if (does === 'refund') {
      const [charge] = receipts.splice(Math.abs(pick) % Math.max(1, receipts.length), 1)
      if (charge === undefined) continue
      await counters.refund(charge.receipt)
      events = events.filter((event) => !charge.taken.includes(event))
    } else {
      const expected = computeExpected(wants, limits, events, latestMs)
      const answer = await counters.consume(charges, instant(clockMs))
      if (demand === 'exactly') expect(getStatus(answer)).toEqual(expected)
      else if (answer.ok) expect(expected).toEqual({ ok: true })
      if (!answer.ok) continue
      const taken = wants.map(({ key, tenths }) => ({ key, atMs: latestMs, tenths }))
      events.push(...taken)
      receipts.push({ receipt: answer.receipt, taken })
    }
  }
  return events
}

function computeExpected(
  wants: Step['wants'],
  limits: readonly KeyLimit[],
  events: readonly Event[],
  nowMs: number,
): object {
  for (const [index, { key }] of wants.entries()) {
    const { maxTenths, windowMs } = limits[key] as KeyLimit
    const of = events.filter((event) => event.key === key)
    const used = (atMs: number) => sum(of.filter((event) => atMs - event.atMs < windowMs))
    const wanted = sum(wants.slice(0, index + 1).filter((other) => other.key === key))
    if (used(nowMs) + wanted <= maxTenths) continue
    const waits = of
      .map(({ atMs }) => atMs + windowMs - nowMs)
      .filter((ms) => ms > 0 && used(nowMs + ms) + wanted <= maxTenths)
    const remaining = formatDecimal({ units: BigInt(maxTenths - used(nowMs)), scale: 1 })
    return { ok: false, refused: index, remaining, retryAfterMs: Math.min(...waits) }
  }
  return { ok: true }
}

function sum(list: readonly { readonly tenths: number }[]): number {
  return list.reduce((total, { tenths }) => total + tenths, 0)
}

/** The invariant itself, independent of the driver: every interval that starts at an event. */
export function expectNoStretchOver(limits: readonly KeyLimit[], events: readonly Event[]): void {
  for (const first of events) {
    const { maxTenths, windowMs } = limits[first.key] as KeyLimit
    const stretch = events.filter(
      ({ key, atMs }) => key === first.key && atMs >= first.atMs && atMs < first.atMs + windowMs,
    )
    expect(sum(stretch)).toBeLessThanOrEqual(maxTenths)
  }
}

/** Tenths written in two ways, so that scales differ. */
function createCharge(key: number, tenths: number, { maxTenths, windowMs }: KeyLimit): LimitCharge {
  const amount =
    tenths % 10 === 0
      ? { units: BigInt(tenths / 10), scale: 0 }
      : { units: BigInt(tenths), scale: 1 }
  const max = { units: BigInt(maxTenths) * 100n, scale: 3 }
  return { key: `key ${key}`, kind: 'spend', windowMs, max, amount }
}

export function instant(monotonicMs: number): Instant {
  return { wallMs: 1_700_000_000_000, monotonicMs }
}

export function rate(max: number, overrides: Partial<LimitCharge> = {}): LimitCharge {
  return {
    key: 'calls',
    kind: 'rate',
    windowMs: WINDOW_MS,
    max: decimal(String(max)),
    amount: decimal('1'),
    ...overrides,
  }
}

export function spend(
  amount: string,
  max: string,
  overrides: Partial<LimitCharge> = {},
): LimitCharge {
  return { ...rate(1), kind: 'spend', max: decimal(max), amount: decimal(amount), ...overrides }
}

function decimal(text: string): Decimal {
  const value = parseDecimal(text)
  if (value === undefined) throw new Error(`\`${text}\` is no decimal`)
  return value
}

/** Consumes, and if the driver can peek, checks that peeking agrees and consumes nothing. */
export async function consume(
  counters: Counters & Partial<LimitUsage>,
  charges: readonly LimitCharge[],
  atMs: number,
): Promise<string> {
  const rooms = charges.map((take) => counters.look?.(take, instant(atMs)))
  const answer = await counters.consume(charges, instant(atMs))
  if (answer.ok) {
    for (const room of rooms) expect(room?.passes ?? true).toBe(true)
    return 'ok'
  }
  const looked = rooms[answer.refused]
  const single = charges.filter(({ key }) => key === charges[answer.refused]?.key).length === 1
  if (looked !== undefined && single) expect(plain(looked)).toEqual(plain(answer.room))
  return `refused ${answer.refused}`
}

export async function consumeReceipt(
  counters: Counters,
  charges: readonly LimitCharge[],
  atMs: number,
): Promise<Receipt> {
  const answer = await counters.consume(charges, instant(atMs))
  if (!answer.ok) throw new Error('was expected to pass')
  return answer.receipt
}

export interface CounterStatus {
  readonly ok: boolean
  readonly refused?: number
  readonly remaining?: string
  readonly retryAfterMs: number
}

export function getStatus(answer: ConsumeResult): CounterStatus {
  if (answer.ok) return { ok: true } as CounterStatus
  return { ok: false, refused: answer.refused, ...plain(answer.room) }
}

function plain(room: LimitStatus): { remaining: string; retryAfterMs: number } {
  expect(room.passes).toBe(false)
  return { remaining: formatDecimal(room.remaining), retryAfterMs: room.retryAfterMs }
}
