// The suite every driver of Counters passes, in memory or over a network: everything is awaited.
// A driver's own test file calls `countersStandardTests(name, makeCounters)`; what only one driver
// has (sweeping, thinning) it tests itself, with test/support/counters-model.ts where that helps.

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
  receiptOf,
  spend,
  told,
  WINDOW_MS,
} from '../../../../test/support/counters-model.ts'
import type { Counters } from '../core/counters.ts'

export type MakeCounters = () => Counters | Promise<Counters>

export function countersStandardTests(name: string, makeCounters: MakeCounters): void {
  describe(`${name}: the window`, () => {
    test('an event counts while t - s < window, to the millisecond', async () => {
      const counters = await makeCounters()
      expect(await consume(counters, [rate(1)], 1_000)).toBe('ok')
      expect(await consume(counters, [rate(1)], 1_000 + WINDOW_MS - 1)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], 1_000 + WINDOW_MS)).toBe('ok')
    })

    test('boundary doubling: 2 x max around the turn of a minute does not pass', async () => {
      const counters = await makeCounters()
      for (let n = 0; n < 5; n++) expect(await consume(counters, [rate(5)], 59_999)).toBe('ok')
      for (const at of [60_000, 60_001, 119_998])
        expect(await consume(counters, [rate(5)], at)).toBe('refused 0')
      expect(await consume(counters, [rate(5)], 119_999)).toBe('ok')
    })

    test('a refused call takes nothing and does not lengthen the wait', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(1)], 0)
      for (let at = 1; at < 20; at++)
        expect(await consume(counters, [rate(1)], at * 1_000)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], WINDOW_MS)).toBe('ok')
    })

    test('every key has its own', async () => {
      const counters = await makeCounters()
      const keys = ['a', 'A', 'a ', '', 'a|1:b', 'a|1:', '__proto__', 'constructor', 'é', 'e\u0301']
      for (const key of keys) expect(await consume(counters, [rate(1, { key })], 0)).toBe('ok')
      for (const key of keys)
        expect(await consume(counters, [rate(1, { key })], 1)).toBe('refused 0')
    })

    test('`max` may change under the same key, as after a reload', async () => {
      const counters = await makeCounters()
      for (let n = 0; n < 4; n++) await consume(counters, [rate(4)], n * 10)
      const lowered = await counters.consume([rate(2)], instant(40))
      expect(told(lowered)).toMatchObject({ ok: false, remaining: '-2' })
      // With four in the window and room for two, three have to leave.
      expect(told(lowered).retryAfterMs).toBe(20 + WINDOW_MS - 40)
      expect(await consume(counters, [rate(5)], 40)).toBe('ok')
      expect(await consume(counters, [rate(5)], 41)).toBe('refused 0')
    })
  })

  describe(`${name}: several takes`, () => {
    test('are taken all together or not at all', async () => {
      const counters = await makeCounters()
      const wide = rate(2, { key: 'wide' })
      const narrow = rate(1, { key: 'narrow' })
      expect(await consume(counters, [wide, narrow], 0)).toBe('ok')
      for (let n = 0; n < 3; n++)
        expect(await consume(counters, [wide, narrow], 1)).toBe('refused 1')
      expect(await consume(counters, [wide], 2)).toBe('ok')
      expect(await consume(counters, [wide], 3)).toBe('refused 0')
    })

    test('the first that does not fit is named', async () => {
      const counters = await makeCounters()
      const takes = ['a', 'b', 'c'].map((key) => rate(1, { key }))
      await consume(counters, [rate(1, { key: 'c' }), rate(1, { key: 'b' })], 0)
      expect(await consume(counters, takes, 1)).toBe('refused 1')
      expect(await consume(counters, [rate(1, { key: 'a' })], 1)).toBe('ok')
    })

    test('of one key add up within the call', async () => {
      const counters = await makeCounters()
      expect(await consume(counters, [rate(3), rate(3), rate(3), rate(3)], 0)).toBe('refused 3')
      expect(await consume(counters, [rate(3), rate(3), rate(3)], 0)).toBe('ok')
      expect(await consume(counters, [rate(3)], 0)).toBe('refused 0')
    })

    test('none at all pass', async () => {
      expect(await consume(await makeCounters(), [], 0)).toBe('ok')
    })
  })

  describe(`${name}: amounts`, () => {
    test('0.1 ten times is exactly 1', async () => {
      const counters = await makeCounters()
      for (let n = 0; n < 10; n++)
        expect(await consume(counters, [spend('0.1', '1')], n)).toBe('ok')
      expect(told(await counters.consume([spend('0.0001', '1')], instant(10)))).toMatchObject({
        ok: false,
        remaining: '0',
      })
    })

    test('of 40 digits on either side of the point are exact', async () => {
      const counters = await makeCounters()
      const nines = '9'.repeat(40)
      const dust = `0.${'0'.repeat(39)}1`
      expect(await consume(counters, [spend(`${nines}.${nines}`, `1${'0'.repeat(39)}`)], 0)).toBe(
        'refused 0',
      )
      expect(await consume(counters, [spend(nines, `${nines}.${dust.slice(2)}`)], 0)).toBe('ok')
      expect(await consume(counters, [spend(dust, `${nines}.${dust.slice(2)}`)], 0)).toBe('ok')
      expect(await consume(counters, [spend(dust, `${nines}.${dust.slice(2)}`)], 0)).toBe(
        'refused 0',
      )
    })

    test('of zero take nothing and pass where nothing is left', async () => {
      const counters = await makeCounters()
      for (let n = 0; n < 50; n++) expect(await consume(counters, [spend('0', '1')], n)).toBe('ok')
      expect(await consume(counters, [spend('1', '1')], 50)).toBe('ok')
      expect(await consume(counters, [spend('0.00', '1')], 51)).toBe('ok')
      expect(await consume(counters, [spend('0.01', '1')], 51)).toBe('refused 0')
    })

    test('are compared by value, however they are written', async () => {
      const counters = await makeCounters()
      expect(await consume(counters, [spend('0.50', '1')], 0)).toBe('ok')
      expect(await consume(counters, [spend('0.5', '1.000')], 0)).toBe('ok')
      expect(await consume(counters, [spend('0.1', '1.0')], 0)).toBe('refused 0')
    })
  })

  describe(`${name}: how long to wait`, () => {
    test('is exact: a millisecond before it does not pass, then it does', async () => {
      const counters = await makeCounters()
      await consume(counters, [spend('3', '10')], 100)
      await consume(counters, [spend('4', '10')], 250)
      await consume(counters, [spend('3', '10')], 900)
      const { retryAfterMs } = told(await counters.consume([spend('5', '10')], instant(1_000)))
      expect(retryAfterMs).toBe(250 + WINDOW_MS - 1_000)
      const at = 1_000 + retryAfterMs
      expect(await consume(counters, [spend('5', '10')], at - 1)).toBe('refused 0')
      expect(await consume(counters, [spend('5', '10')], at)).toBe('ok')
    })

    test('is for ever where the call alone is over `max`', async () => {
      const counters = await makeCounters()
      for (const used of [false, true]) {
        if (used) await consume(counters, [spend('1', '10')], 0)
        const refusal = told(await counters.consume([spend('10.01', '10')], instant(0)))
        expect(refusal).toMatchObject({ ok: false, retryAfterMs: Number.POSITIVE_INFINITY })
      }
    })
  })

  describe(`${name}: giving back`, () => {
    test('makes room again, of all takes of the receipt', async () => {
      const counters = await makeCounters()
      const takes = [rate(1), spend('2.5', '4', { key: 'money' })]
      const receipt = await receiptOf(counters, takes, 0)
      expect(await consume(counters, takes, 1)).toBe('refused 0')
      await counters.giveBack(receipt)
      expect(await consume(counters, takes, 2)).toBe('ok')
      expect(await consume(counters, takes, 3)).toBe('refused 0')
    })

    test('takes away the call itself, not a later one: the window of that one stands', async () => {
      const counters = await makeCounters()
      const first = await receiptOf(counters, [rate(2)], 0)
      await consume(counters, [rate(2)], 50_000)
      await counters.giveBack(first)
      expect(await consume(counters, [rate(2)], 60_001)).toBe('ok')
      expect(await consume(counters, [rate(2)], 60_002)).toBe('refused 0')
      expect(await consume(counters, [rate(2)], 110_000)).toBe('ok')
    })

    test('after the window does not take a later call away', async () => {
      const counters = await makeCounters()
      const first = await receiptOf(counters, [rate(2)], 0)
      await consume(counters, [rate(2)], 50_000)
      await consume(counters, [rate(2)], 60_000)
      await counters.giveBack(first)
      expect(await consume(counters, [rate(2)], 60_001)).toBe('refused 0')
    })

    test('of zero, of nothing and of what is forgotten does nothing', async () => {
      const counters = await makeCounters()
      await counters.giveBack(await receiptOf(counters, [spend('0', '1')], 0))
      await counters.giveBack(await receiptOf(counters, [], 0))
      await counters.giveBack({ takes: [rate(1, { key: 'never seen' })], atMs: 0 })
      expect(await consume(counters, [spend('1', '1')], 0)).toBe('ok')
      await counters.giveBack({ takes: [spend('2', '1')], atMs: 0 })
      expect(await consume(counters, [spend('1', '1')], 0)).toBe('refused 0')
    })
  })

  describe(`${name}: after a restart`, () => {
    test('what was consumed comes back with its age', async () => {
      const counters = await makeCounters()
      await counters.restore([rate(2)], 40_000, instant(0))
      await counters.restore([rate(2)], 10_000, instant(0))
      expect(await consume(counters, [rate(2)], 19_999)).toBe('refused 0')
      expect(await consume(counters, [rate(2)], 20_000)).toBe('ok')
      expect(await consume(counters, [rate(2)], 20_001)).toBe('refused 0')
      expect(await consume(counters, [rate(2)], 50_000)).toBe('ok')
    })

    test('in any order, beside what is already new, and past what is over', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(3)], 100_000)
      await counters.restore([rate(3)], WINDOW_MS, instant(100_000))
      await counters.restore([rate(3)], 1_000, instant(100_000))
      await counters.restore([rate(3)], 30_000, instant(100_000))
      expect(await consume(counters, [rate(3)], 129_999)).toBe('refused 0')
      expect(await consume(counters, [rate(3)], 130_000)).toBe('ok')
      expect(await consume(counters, [rate(3)], 158_999)).toBe('refused 0')
      expect(await consume(counters, [rate(3)], 159_000)).toBe('ok')
      expect(await consume(counters, [rate(3)], 160_000)).toBe('ok')
    })

    test('an age below zero (the wall clock was set back) counts as just now', async () => {
      const counters = await makeCounters()
      await counters.restore([rate(1)], -5_000, instant(1_000))
      expect(await consume(counters, [rate(1)], 1_000 + WINDOW_MS - 1)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], 1_000 + WINDOW_MS)).toBe('ok')
    })

    test('more than `max` may come back, and then leaves one by one', async () => {
      const counters = await makeCounters()
      for (const ageMs of [3_000, 2_000, 1_000])
        await counters.restore([rate(1)], ageMs, instant(0))
      const refusal = told(await counters.consume([rate(1)], instant(0)))
      expect(refusal).toMatchObject({ ok: false, remaining: '-2', retryAfterMs: WINDOW_MS - 1_000 })
    })
  })

  describe(`${name}: clocks`, () => {
    test('one that jumps back gives nobody a fresh budget', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(1)], 100_000)
      for (const at of [99_999, 0, -1_000_000])
        expect(await consume(counters, [rate(1)], at)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], 159_999)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], 160_000)).toBe('ok')
    })

    test('what comes while it is back counts from the latest time that was seen', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(2)], 100_000)
      expect(await consume(counters, [rate(2)], 10_000)).toBe('ok')
      expect(await consume(counters, [rate(2)], 159_999)).toBe('refused 0')
    })

    test('wall time says nothing', async () => {
      const counters = await makeCounters()
      await counters.consume([rate(1)], { wallMs: 0, monotonicMs: 0 })
      const later = await counters.consume([rate(1)], { wallMs: 9e15, monotonicMs: 1 })
      expect(later.ok).toBe(false)
    })

    test.each([Number.NaN, Number.POSITIVE_INFINITY])(
      'one that says %d opens no limit',
      async (monotonicMs) => {
        const counters = await makeCounters()
        await consume(counters, [rate(2)], 0)
        let passed = 0
        for (let n = 0; n < 10; n++)
          if ((await counters.consume([rate(2)], { wallMs: 0, monotonicMs })).ok) passed++
        expect(passed).toBeLessThanOrEqual(2)
      },
    )
  })

  describe(`${name}: for every history`, () => {
    test('each answer is that of a plain list of events', async () => {
      const property = fc.asyncProperty(arbitraryHistory, async (history) => {
        await follow(await makeCounters(), history, 'exactly')
      })
      await fc.assert(property, { numRuns: RUNS })
    })

    test('in no stretch of `window` more than `max`', async () => {
      const property = fc.asyncProperty(arbitraryHistory, async (history) => {
        const steps = history.steps.filter(({ does }) => does !== 'restore')
        const events = await follow(await makeCounters(), { ...history, steps }, 'exactly')
        expectNoStretchOver(history.limits, events)
      })
      await fc.assert(property, { numRuns: RUNS })
    })
  })
}
