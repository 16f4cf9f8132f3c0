import { expect, test } from 'vitest'
import { ClockComparison } from './clock-comparison.ts'

const START_MS = 1_800_000_000_000
const HOUR_MS = 3_600_000

function driven() {
  const now = { wallMs: START_MS, monotonicMs: 0, databaseMs: START_MS }
  const clock = new ClockComparison({
    wallMs: () => now.wallMs,
    monotonicMs: () => now.monotonicMs,
  })
  const pass = (ms: number): void => {
    now.wallMs += ms
    now.monotonicMs += ms
    now.databaseMs += ms
  }
  /** Asks the database, which reads its clock after a while and answers after another. */
  const ask = (beforeMs = 0, afterMs = 0): void => {
    const askedMs = now.monotonicMs
    pass(beforeMs)
    const { databaseMs } = now
    pass(afterMs)
    clock.note({ databaseMs, askedMs, answeredMs: now.monotonicMs })
  }
  return { ask, clock, now, pass }
}

test('a clock that is set is wrong at once, before the database is asked again', () => {
  const { ask, clock, now, pass } = driven()
  expect(clock.fault).toBeUndefined()
  ask()
  pass(HOUR_MS)
  expect(clock.fault).toBeUndefined()
  now.wallMs -= HOUR_MS
  expect(clock.fault).toBe('the clock of this gate is 3600 s behind that of the database')
  now.wallMs += 2 * HOUR_MS
  expect(clock.fault).toBe('the clock of this gate is 3600 s ahead of that of the database')
})

test('expiry does not follow a clock that is set forward: when it is right again the gate is', () => {
  const { ask, clock, now, pass } = driven()
  ask()
  now.wallMs += HOUR_MS
  expect(clock.fault).toContain('ahead')
  now.wallMs -= HOUR_MS
  pass(60_000)
  expect(clock.fault).toBeUndefined()
  now.wallMs -= 2 * HOUR_MS
  expect(clock.fault).toBe('the clock of this gate is 7200 s behind that of the database')
})

test('a gate that was started while its clock was ahead is wrong until it is started again', () => {
  const { ask, clock, now, pass } = driven()
  now.databaseMs -= HOUR_MS
  ask()
  expect(clock.fault).toBe('the clock of this gate is 3600 s ahead of that of the database')
  now.wallMs -= HOUR_MS
  pass(60_000)
  ask()
  const why =
    'the clock of this gate was 3600 s ahead of that of the database at its start: restart it'
  expect(clock.fault).toBe(why)
})

test('a machine that slept is wrong until the database has answered', () => {
  const { ask, clock, now } = driven()
  ask()
  now.wallMs += HOUR_MS
  now.databaseMs += HOUR_MS
  expect(clock.fault).toContain('ahead')
  ask()
  expect(clock.fault).toBeUndefined()
})

test('a slow answer makes no clock wrong, and half a minute is tolerated', () => {
  const { ask, clock, now } = driven()
  for (const [before, after] of [
    [50_000, 0],
    [0, 50_000],
  ] as const) {
    ask(before, after)
    expect(clock.fault).toBeUndefined()
  }
  ask()
  now.wallMs += 30_000
  expect(clock.fault).toBeUndefined()
  now.wallMs += 1_000
  expect(clock.fault).toContain('31 s ahead')
})
