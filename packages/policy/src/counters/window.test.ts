// The events of one counter: the memory they use, and charges that never fit.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IS_FULL, runs } from '../../../../test/support/runs.ts'
import type { Decimal } from '../values/decimal.ts'
import { BLOCK_EVENTS_MAX } from './event-block.ts'
import { SlidingWindow } from './window.ts'

const units = (count: number): Decimal => ({ units: BigInt(count), scale: 0 })

test('expired events make room for new ones, and the rest keeps its order', () => {
  const window = new SlidingWindow(100)
  for (let at = 0; at < 8; at++) window.add(units(1), at * 10)
  window.expire(145)
  expect(window.size).toBe(3)
  for (let at = 8; at < 12; at++) window.add(units(at), at * 10)
  expect(window.list().times).toEqual([50, 60, 70, 80, 90, 100, 110])
  expect(window.list().amounts.map(({ units: count }) => Number(count))).toEqual([
    1, 1, 1, 8, 9, 10, 11,
  ])
  expect(window.sum).toEqual(units(41))
})

test('a charge above the limit never fits', () => {
  const window = new SlidingWindow(100)
  window.add(units(1), 0)
  expect(window.retryAfterMs(units(3), units(2), 100, 10)).toBe(Number.POSITIVE_INFINITY)
  expect(window.retryAfterMs(units(2), units(2), 100, 10)).toBe(90)
})

test('memory of a busy time is freed, and the remaining events still count', () => {
  const window = new SlidingWindow(1_000)
  for (let at = 0; at < 200; at++) window.add(units(at % 2 === 0 ? 1 : 2), at)
  window.expire(1_194)
  expect(window.list().times).toEqual([195, 196, 197, 198, 199])
  expect(window.sum).toEqual(units(8))
  for (let at = 200; at < 230; at++) window.add(units(1), at)
  expect(window.size).toBe(35)
  expect(window.sum).toEqual(units(38))
})

/** As `SlidingWindow`, without blocks. */
class PlainWindow {
  events: { readonly atMs: number; left: number }[] = []

  get sum(): number {
    return this.events.reduce((sum, { left }) => sum + left, 0)
  }

  add(amount: number, atMs: number): void {
    const before = this.events.findLastIndex((event) => event.atMs <= atMs)
    this.events.splice(before + 1, 0, { atMs, left: amount })
  }

  refund(amount: number, atMs: number): void {
    const mine = this.events.filter((event) => event.atMs === atMs && event.left >= amount)
    const event = mine.findLast(({ left }) => left === amount) ?? mine[0]
    if (event === undefined) return
    event.left -= amount
    if (event.left === 0) this.events.splice(this.events.indexOf(event), 1)
  }

  expire(nowMs: number): void {
    this.events = this.events.filter(({ atMs }) => nowMs - atMs < WINDOW_MS)
  }

  retryAfterMs(wanted: number, max: number, nowMs: number): number {
    let { sum } = this
    const last = this.events.find(({ left }) => {
      sum -= left
      return sum + wanted <= max
    })
    return last === undefined ? Number.POSITIVE_INFINITY : last.atMs + WINDOW_MS - nowMs
  }
}

const WINDOW_MS = 10_000

test('a window of many blocks is as one without blocks, whatever order events come in', () => {
  const action = fc.record({
    does: fc.constantFrom('add', 'late', 'refund', 'expire'),
    count: fc.integer({ min: 1, max: 2 * BLOCK_EVENTS_MAX }),
    amount: fc.integer({ min: 1, max: 3 }),
    ms: fc.integer({ min: 0, max: 3_000 }),
  })
  const property = fc.property(fc.array(action, { minLength: 4, maxLength: 12 }), (actions) => {
    const [window, plain] = [new SlidingWindow(WINDOW_MS), new PlainWindow()]
    let nowMs = 0
    for (const { does, count, amount, ms } of actions) {
      if (does === 'expire') nowMs += 2 * ms
      for (let n = 0; n < (does === 'expire' ? 0 : count); n++) {
        if (does === 'add') nowMs += n % 2
        const atMs = does === 'add' ? nowMs : nowMs - ((n * 7) % (ms + 1))
        const each = does === 'refund' ? amount : 1 + ((amount + n) % 3)
        if (does === 'refund') window.refund(units(each), atMs)
        else window.add(units(each), atMs)
        if (does === 'refund') plain.refund(each, atMs)
        else plain.add(each, atMs)
      }
      window.expire(nowMs)
      plain.expire(nowMs)
      // As texts: thousands of objects take long to be compared one by one.
      const { times, amounts } = window.list()
      expect(times.join()).toBe(plain.events.map(({ atMs }) => atMs).join())
      expect(amounts.map((one) => one.units).join()).toBe(
        plain.events.map(({ left }) => left).join(),
      )
      expect([window.size, window.sum]).toEqual([plain.events.length, units(plain.sum)])
      for (const max of [0, 1, plain.sum >> 1, plain.sum])
        expect(window.retryAfterMs(units(1), units(max), WINDOW_MS, nowMs)).toBe(
          plain.retryAfterMs(1, max, nowMs),
        )
    }
  })
  // Each case adds thousands of events.
  fc.assert(property, IS_FULL ? runs(40) : { numRuns: 4 })
})

test('finding: what a refused charge costs does not grow with the events of its counter', () => {
  let reads = 0
  const counted = (count: number): Decimal => ({
    get units() {
      reads++
      return BigInt(count)
    },
    scale: 0,
  })
  const amounts = [counted(1), counted(2)]
  const window = new SlidingWindow(WINDOW_MS)
  const count = 100 * BLOCK_EVENTS_MAX
  for (let n = 0; n < count; n++) window.add(amounts[n % 2] as Decimal, n / count)
  const readsOf = (work: () => void): number => {
    reads = 0
    work()
    return reads
  }
  const most = 8 * BLOCK_EVENTS_MAX
  const max = units(10)
  expect(readsOf(() => window.retryAfterMs(units(9), max, WINDOW_MS, 2))).toBeLessThan(most)
  expect(readsOf(() => window.thinSome())).toBeLessThan(most)
  expect(window.size).toBe(count - BLOCK_EVENTS_MAX)
  expect(readsOf(() => window.expire(2 * WINDOW_MS))).toBeLessThan(most)
  expect([window.size, window.sum]).toEqual([0, units(0)])
})
