// The in-memory driver: the conformance suite, and what only this driver has: sweeping, bulk
// removal, thinning.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  arbitraryHistory,
  consume,
  expectNoStretchOver,
  follow,
  instant,
  RUNS,
  rate,
  spend,
} from '../../../../test/support/counters-model.ts'
import { countersStandardTests } from './counters.test-support.ts'
import { COUNTERS_SWEPT_MAX } from './limits.ts'
import { isRecordedName, MemoryCounters } from './memory-counters.ts'

countersStandardTests('MemoryCounters', () => new MemoryCounters())

describe('memory', () => {
  test('is freed by a sweep, for expired counters only', () => {
    const counters = new MemoryCounters()
    for (let n = 0; n < 100; n++) counters.consume([rate(1, { key: `k${n}` })], instant(n * 1_000))
    expect(counters.size).toBe(100)
    counters.sweep(instant(99_000))
    expect(counters.size).toBe(60)
    expect(counters.look(rate(1, { key: 'k99' }), instant(99_000)).passes).toBe(false)
    counters.sweep(instant(200_000))
    expect(counters.size).toBe(0)
  })

  test('an unbounded number of counters keyed by an argument fills only their own limit', () => {
    const counters = new MemoryCounters({ perLimitMax: 3 })
    const ask = (key: string, at: number) =>
      counters.consume([rate(1, { key, windowMs: 1_000 })], instant(at)).ok
    for (const name of ['a', 'b', 'c']) expect(ask(`by name|1:${name}`, 0)).toBe(true)
    expect(ask('by name|1:d', 1)).toBe(false)
    expect(counters.look(rate(1, { key: 'by name|1:d' }), instant(1)).passes).toBe(false)
    expect(ask('by name|1:a', 1)).toBe(false)
    expect(ask('another|1:d', 1)).toBe(true)
    expect(counters.size).toBe(4)
    expect(ask('by name|1:d', 2_000)).toBe(true)
    expect(counters.size).toBe(1)
  })

  test('is not used by charges of zero', () => {
    const counters = new MemoryCounters()
    counters.consume([spend('0', '1')], instant(0))
    counters.look(rate(1), instant(0))
    counters.consume([spend('2', '1')], instant(0))
    expect(counters.size).toBe(0)
  })

  test('of a busy counter stays correct while old events are dropped in bulk', async () => {
    const counters = new MemoryCounters()
    for (let at = 0; at < 3_000; at++) {
      const busy = rate(50, { windowMs: 50 })
      expect(await consume(counters, [busy], at)).toBe('ok')
      if (at >= 49) expect(await consume(counters, [busy], at)).toBe('refused 0')
    }
  })

  test('a quiet end after a busy time leaves an empty counter', async () => {
    const counters = new MemoryCounters()
    for (let at = 0; at < 10; at++) await consume(counters, [rate(10)], at)
    expect(await consume(counters, [rate(10)], 1_000_000)).toBe('ok')
    counters.sweep(instant(2_000_000))
    expect(counters.size).toBe(0)
  })
})

describe('over a restart', () => {
  test('counted events persist, older by the time the gate was down', () => {
    const before = new MemoryCounters()
    for (const at of [0, 30_000]) before.consume([spend('2', '5')], instant(at))
    const counted = before.dump(instant(40_000), 100)
    const after = new MemoryCounters()
    after.load(counted, 10_000, instant(1_000_000))
    expect(after.look(spend('2', '5'), instant(1_000_000)).passes).toBe(false)
    expect(after.look(spend('2', '5'), instant(1_010_000)).passes).toBe(true)
    expect(after.look(spend('4', '5'), instant(1_039_999)).passes).toBe(false)
    expect(after.look(spend('4', '5'), instant(1_040_000)).passes).toBe(true)
  })

  test('of more events than are stored, neighbours are merged: stricter, never looser', () => {
    const before = new MemoryCounters()
    for (let at = 0; at < 40_000; at += 1_000) before.consume([spend('1', '100')], instant(at))
    const counted = before.dump(instant(40_000), 5)
    expect(counted[0]?.amounts.length).toBeLessThanOrEqual(5)
    const after = new MemoryCounters()
    after.load(counted, -1, instant(0))
    expect(after.look(spend('61', '100'), instant(0)).passes).toBe(false)
    expect(after.look(spend('60', '100'), instant(0)).passes).toBe(true)
  })
})

test('a snapshot may pause: what is charged meanwhile is part of it, and counts', () => {
  const before = new MemoryCounters()
  for (let n = 0; n < 40; n++) before.consume([spend('1', '100')], instant(n * 1_000))
  before.consume([{ ...spend('1', '100'), key: 'other' }], instant(40_000))
  before.consume([{ ...spend('1', '100'), key: 'over', windowMs: 1 }], instant(40_000))
  const steps = before.dumpSteps(instant(40_001), 30)
  expect(steps.next().value).toBeUndefined()
  before.consume([{ ...spend('5', '100'), key: 'other' }], instant(41_000))
  const counted = [...steps].filter((one) => one !== undefined)
  expect(counted.map(({ key, ages }) => [key, ages.at(-1)])).toEqual([
    [spend('1', '100').key, 1_001],
    ['other', -999],
  ])
  const after = new MemoryCounters()
  after.load(counted, 1_999, instant(1_000_000))
  const left = after.look({ ...spend('94', '100'), key: 'other' }, instant(1_000_000))
  expect(left).toMatchObject({ passes: true, remaining: { units: 94n } })
})

test('a full limit is swept in parts, until all were looked at', () => {
  const counters = new MemoryCounters({ perLimitMax: COUNTERS_SWEPT_MAX + 1 })
  const charge = (n: number) => ({ ...spend('1', '9'), key: `limit|${n}`, windowMs: 1_000 })
  for (let n = 0; n <= COUNTERS_SWEPT_MAX; n++) counters.consume([charge(n)], instant(0))
  // The one that has expired is the last that is looked at.
  for (let n = 0; n < COUNTERS_SWEPT_MAX; n++) counters.consume([charge(n)], instant(900))
  const tries = [1_100, 1_101, 1_200, 1_300].map(
    (at) => counters.consume([charge(-1)], instant(at)).ok,
  )
  expect(tries).toEqual([false, false, true, true])
})

describe('beyond the bound on events', () => {
  test('neighbours are merged into the later one: stricter, never looser', async () => {
    const property = fc.asyncProperty(
      arbitraryHistory,
      fc.integer({ min: 1, max: 6 }),
      async (history, eventsMax) => {
        await follow(new MemoryCounters({ eventsMax }), history, 'never looser')
        const steps = history.steps.filter(({ does }) => does === 'consume')
        const taken = await follow(
          new MemoryCounters({ eventsMax }),
          { ...history, steps },
          'never looser',
        )
        expectNoStretchOver(history.limits, taken)
      },
    )
    await fc.assert(property, RUNS)
  })

  test('merged events are not refunded, and all of them expire', () => {
    const counters = new MemoryCounters({ eventsMax: 2 })
    const receipts = [0, 10, 20].map((at) => counters.consume([spend('1', '3')], instant(at)))
    const [first] = receipts
    if (first?.ok) counters.refund(first.receipt)
    expect(counters.look(spend('1', '3'), instant(20)).passes).toBe(false)
    expect(counters.look(spend('2', '3'), instant(60_010)).passes).toBe(true)
    expect(counters.look(spend('3', '3'), instant(60_020)).passes).toBe(true)
  })

  test('a large counter is merged without an error', () => {
    const eventsMax = 300_000
    const counters = new MemoryCounters({ eventsMax })
    const dust = spend('0.000001', '1')
    counters.restore(new Array(eventsMax + 1).fill(dust), 0, instant(0))
    const room = counters.look(dust, instant(1))
    expect(room).toMatchObject({ passes: true, retryAfterMs: 0 })
    expect(room.remaining).toEqual({ units: 699_999n, scale: 6 })
  })
})

describe('restored by the names that records have', () => {
  const KEY = 'by name|4:dora'
  const NAME = `by name|~${'d'.repeat(22)}`
  const make = () =>
    new MemoryCounters({ recordedName: (key) => (key === KEY ? NAME : `other|~${key}`) })
  const one = rate(3, { key: KEY })

  test('a counter goes on under its key, whatever of it was a key and what a name', () => {
    for (const keys of [
      [NAME, NAME],
      [KEY, NAME],
      [NAME, KEY],
    ]) {
      const counters = make()
      for (const key of keys) counters.restore([{ ...one, key }], 1, instant(0))
      expect(counters.size).toBe(1)
      expect(counters.look(one, instant(0)).passes).toBe(true)
      expect(counters.consume([one], instant(0)).ok).toBe(true)
      expect(counters.consume([one], instant(0)).ok).toBe(false)
      expect(counters.dump(instant(0), 10).map(({ key }) => key)).toEqual([KEY])
    }
  })

  test('a value that looks like a name is no name', () => {
    const counters = make()
    const key = `by name|25:x${NAME.slice(-24)}`
    counters.restore([{ ...one, key }], 1, instant(0))
    expect(counters.dump(instant(0), 10).map((counter) => counter.key)).toEqual([key])
    expect(isRecordedName(key)).toBe(false)
  })
})
