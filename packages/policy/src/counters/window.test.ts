// The events of one counter: the memory they use, and charges that never fit.

import { expect, test } from 'vitest'
import type { Decimal } from '../core/decimal.ts'
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
