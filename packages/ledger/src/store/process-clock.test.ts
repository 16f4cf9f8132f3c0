// A clock that is set: by an hour or a year, forward, back, and both.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProcessClock } from './process-clock.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const START_MS = 1_800_000_000_000

function driven() {
  const now = { wallMs: START_MS, monotonicMs: 5_000 }
  const clock = new ProcessClock({ wallMs: () => now.wallMs, monotonicMs: () => now.monotonicMs })
  const pass = (ms: number): void => {
    now.wallMs += ms
    now.monotonicMs += ms
  }
  const set = (ms: number): void => {
    now.wallMs += ms
  }
  return { clock, pass, set }
}

test.each([HOUR_MS, YEAR_MS])('set back by %i ms: what has expired stays expired', (jump) => {
  const { clock, pass, set } = driven()
  const untilMs = clock.nowMs() + 1_000
  pass(1_001)
  expect(clock.nowMs()).toBeGreaterThan(untilMs)
  set(-jump)
  expect(clock.nowMs()).toBeGreaterThan(untilMs)
  // Time continues at its own speed: what is created now lasts as long as it should.
  const nextMs = clock.nowMs() + 1_000
  pass(999)
  expect(clock.nowMs()).toBeLessThan(nextMs)
  pass(1)
  expect(clock.nowMs()).toBe(nextMs)
})

test.each([HOUR_MS, YEAR_MS])(
  'set forward by %i ms and back again: nothing lasts longer',
  (jump) => {
    const { clock, pass, set } = driven()
    const untilMs = clock.nowMs() + 60_000
    set(jump)
    expect(clock.nowMs()).toBeGreaterThan(untilMs)
    expect(clock.steadyMs()).toBe(START_MS)
    expect(clock.earliestMs()).toBe(START_MS)
    set(-jump)
    const madeMs = clock.nowMs()
    expect(madeMs).toBeGreaterThan(untilMs)
    pass(10)
    expect(clock.nowMs()).toBe(madeMs + 10)
    expect(clock.steadyMs()).toBe(START_MS + 10)
  },
)

test('setting the clock back is reported once, a small correction is not', () => {
  const { clock, pass, set } = driven()
  const reported: number[] = []
  const end = clock.onSetBack((ms) => void reported.push(ms))
  set(-1_000)
  clock.nowMs()
  set(-HOUR_MS)
  clock.nowMs()
  pass(10)
  clock.nowMs()
  expect(reported).toEqual([HOUR_MS + 1_000])
  set(2 * HOUR_MS)
  clock.nowMs()
  set(-HOUR_MS)
  clock.nowMs()
  expect(reported).toHaveLength(2)
  end()
  set(2 * HOUR_MS)
  clock.nowMs()
  set(-HOUR_MS)
  clock.nowMs()
  expect(reported).toHaveLength(2)
})

test('whatever is done to the clock, time for expiry never goes back and never stops', () => {
  const step = fc.record({
    pass: fc.nat(HOUR_MS),
    set: fc.integer({ min: -YEAR_MS, max: YEAR_MS }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { clock, pass, set } = driven()
      for (const each of steps) {
        const before = { now: clock.nowMs(), steady: clock.steadyMs() }
        set(each.set)
        pass(each.pass)
        expect(clock.nowMs()).toBeGreaterThanOrEqual(before.now + each.pass)
        expect(clock.steadyMs()).toBe(before.steady + each.pass)
        expect(clock.earliestMs()).toBeLessThanOrEqual(clock.steadyMs())
      }
    }),
  )
})
