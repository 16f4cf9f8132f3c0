// When a server is started again, on a clock of the test's own.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Restarter, restartDelayMs } from './restart.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('1 s, then twice as long each time, 60 s at most; from the beginning after 60 s up', () => {
  const delays: number[] = []
  let last: number | undefined
  for (let run = 0; run < 9; run += 1) {
    last = restartDelayMs(last, 10)
    delays.push(last)
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((s) => s * 1_000))
  expect(restartDelayMs(32_000, 59_999)).toBe(60_000)
  expect(restartDelayMs(32_000, 60_000)).toBe(1_000)
})

test('the class waits, starts once, and forgets failures after a healthy run', () => {
  let starts = 0
  const restarter = new Restarter(
    () => {
      starts += 1
    },
    () => Date.now(),
  )
  expect(restarter.ended()).toBe(1_000)
  expect(restarter.ended()).toBe(1_000)
  vi.advanceTimersByTime(999)
  expect(starts).toBe(0)
  vi.advanceTimersByTime(1)
  expect(starts).toBe(1)
  expect(restarter.ended()).toBe(2_000)
  restarter.now()
  expect(starts).toBe(2)
  vi.advanceTimersByTime(60_000)
  expect(starts).toBe(2)
  expect(restarter.ended()).toBe(1_000)
  restarter.stop()
  vi.advanceTimersByTime(10_000)
  expect(starts).toBe(2)
  expect(restarter.ended()).toBe(undefined)
})
