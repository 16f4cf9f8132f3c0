// The conformance suite for every driver of Counters, in memory or over a network: everything is
// awaited. A driver's test file calls `countersStandardTests(name, makeCounters)` and tests
// separately what only that driver has (sweeping, thinning), with test/support/counters-model.ts if
// useful.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  arbitraryHistory,
  consume,
  consumeReceipt,
  expectNoStretchOver,
  follow,
  getStatus,
  instant,
  RUNS,
  rate,
  spend,
  WINDOW_MS,
} from '../../../../test/support/counters-model.ts'
import type { Counters } from '../calls/counters.ts'

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

    test('a refused call consumes nothing and does not extend the wait', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(1)], 0)
      for (let at = 1; at < 20; at++)
        expect(await consume(counters, [rate(1)], at * 1_000)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], WINDOW_MS)).toBe('ok')
    })

    test('keys are independent', async () => {
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
      expect(getStatus(lowered)).toMatchObject({ ok: false, remaining: '-2' })
      // With four in the window and capacity for two, three have to expire.
      expect(getStatus(lowered).retryAfterMs).toBe(20 + WINDOW_MS - 40)
      expect(await consume(counters, [rate(5)], 40)).toBe('ok')
      expect(await consume(counters, [rate(5)], 41)).toBe('refused 0')
    })
  })

  describe(`${name}: several charges`, () => {
    test('are consumed atomically', async () => {
      const counters = await makeCounters()
      const wide = rate(2, { key: 'wide' })
      const narrow = rate(1, { key: 'narrow' })
      expect(await consume(counters, [wide, narrow], 0)).toBe('ok')
      for (let n = 0; n < 3; n++)
        expect(await consume(counters, [wide, narrow], 1)).toBe('refused 1')
      expect(await consume(counters, [wide], 2)).toBe('ok')
      expect(await consume(counters, [wide], 3)).toBe('refused 0')
    })

    test('the first that does not fit is reported', async () => {
      const counters = await makeCounters()
      const charges = ['a', 'b', 'c'].map((key) => rate(1, { key }))
      await consume(counters, [rate(1, { key: 'c' }), rate(1, { key: 'b' })], 0)
      expect(await consume(counters, charges, 1)).toBe('refused 1')
      expect(await consume(counters, [rate(1, { key: 'a' })], 1)).toBe('ok')
    })

    test('of one key add up within the call', async () => {
      const counters = await makeCounters()
      expect(await consume(counters, [rate(3), rate(3), rate(3), rate(3)], 0)).toBe('refused 3')
      expect(await consume(counters, [rate(3), rate(3), rate(3)], 0)).toBe('ok')
      expect(await consume(counters, [rate(3)], 0)).toBe('refused 0')
    })

    test('an empty list passes', async () => {
      expect(await consume(await makeCounters(), [], 0)).toBe('ok')
    })
  })

  describe(`${name}: amounts`, () => {
    test('0.1 ten times is exactly 1', async () => {
      const counters = await makeCounters()
      for (let n = 0; n < 10; n++)
        expect(await consume(counters, [spend('0.1', '1')], n)).toBe('ok')
      expect(getStatus(await counters.consume([spend('0.0001', '1')], instant(10)))).toMatchObject({
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

    test('of zero consume nothing and pass if nothing is left', async () => {
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

  describe(`${name}: retry time`, () => {
    test('is exact: a millisecond before it does not pass, then it does', async () => {
      const counters = await makeCounters()
      await consume(counters, [spend('3', '10')], 100)
      await consume(counters, [spend('4', '10')], 250)
      await consume(counters, [spend('3', '10')], 900)
      const { retryAfterMs } = getStatus(await counters.consume([spend('5', '10')], instant(1_000)))
      expect(retryAfterMs).toBe(250 + WINDOW_MS - 1_000)
      const at = 1_000 + retryAfterMs
      expect(await consume(counters, [spend('5', '10')], at - 1)).toBe('refused 0')
      expect(await consume(counters, [spend('5', '10')], at)).toBe('ok')
    })

    test('is infinite if the call alone exceeds `max`', async () => {
      const counters = await makeCounters()
      for (const used of [false, true]) {
        if (used) await consume(counters, [spend('1', '10')], 0)
        const refusal = getStatus(await counters.consume([spend('10.01', '10')], instant(0)))
        expect(refusal).toMatchObject({ ok: false, retryAfterMs: Number.POSITIVE_INFINITY })
      }
    })
  })

  describe(`${name}: refunds`, () => {
    test('free the capacity of every charge of the receipt', async () => {
      const counters = await makeCounters()
      const charges = [rate(1), spend('2.5', '4', { key: 'money' })]
      const receipt = await consumeReceipt(counters, charges, 0)
      expect(await consume(counters, charges, 1)).toBe('refused 0')
      await counters.refund(receipt)
      expect(await consume(counters, charges, 2)).toBe('ok')
      expect(await consume(counters, charges, 3)).toBe('refused 0')
    })

    test('remove the call itself, not a later one, whose window is unchanged', async () => {
      const counters = await makeCounters()
      const first = await consumeReceipt(counters, [rate(2)], 0)
      await consume(counters, [rate(2)], 50_000)
      await counters.refund(first)
      expect(await consume(counters, [rate(2)], 60_001)).toBe('ok')
      expect(await consume(counters, [rate(2)], 60_002)).toBe('refused 0')
      expect(await consume(counters, [rate(2)], 110_000)).toBe('ok')
    })

    test('after the window remove no later call', async () => {
      const counters = await makeCounters()
      const first = await consumeReceipt(counters, [rate(2)], 0)
      await consume(counters, [rate(2)], 50_000)
      await consume(counters, [rate(2)], 60_000)
      await counters.refund(first)
      expect(await consume(counters, [rate(2)], 60_001)).toBe('refused 0')
    })

    test('of zero, of nothing and of what has expired do nothing', async () => {
      const counters = await makeCounters()
      await counters.refund(await consumeReceipt(counters, [spend('0', '1')], 0))
      await counters.refund(await consumeReceipt(counters, [], 0))
      await counters.refund({ charges: [rate(1, { key: 'never seen' })], atMs: 0 })
      expect(await consume(counters, [spend('1', '1')], 0)).toBe('ok')
      await counters.refund({ charges: [spend('2', '1')], atMs: 0 })
      expect(await consume(counters, [spend('1', '1')], 0)).toBe('refused 0')
    })
  })

  describe(`${name}: after a restart`, () => {
    test('what was consumed is restored with its age', async () => {
      const counters = await makeCounters()
      await counters.restore([rate(2)], 40_000, instant(0))
      await counters.restore([rate(2)], 10_000, instant(0))
      expect(await consume(counters, [rate(2)], 19_999)).toBe('refused 0')
      expect(await consume(counters, [rate(2)], 20_000)).toBe('ok')
      expect(await consume(counters, [rate(2)], 20_001)).toBe('refused 0')
      expect(await consume(counters, [rate(2)], 50_000)).toBe('ok')
    })

    test('in any order, mixed with newer events, ignoring expired ones', async () => {
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

    test('more than `max` may be restored, and expires one by one', async () => {
      const counters = await makeCounters()
      for (const ageMs of [3_000, 2_000, 1_000])
        await counters.restore([rate(1)], ageMs, instant(0))
      const refusal = getStatus(await counters.consume([rate(1)], instant(0)))
      expect(refusal).toMatchObject({ ok: false, remaining: '-2', retryAfterMs: WINDOW_MS - 1_000 })
    })
  })

  describe(`${name}: clocks`, () => {
    test('a clock that jumps back resets no quota', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(1)], 100_000)
      for (const at of [99_999, 0, -1_000_000])
        expect(await consume(counters, [rate(1)], at)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], 159_999)).toBe('refused 0')
      expect(await consume(counters, [rate(1)], 160_000)).toBe('ok')
    })

    test('events during the jump count from the latest time that was seen', async () => {
      const counters = await makeCounters()
      await consume(counters, [rate(2)], 100_000)
      expect(await consume(counters, [rate(2)], 10_000)).toBe('ok')
      expect(await consume(counters, [rate(2)], 159_999)).toBe('refused 0')
    })

    test('wall time is ignored', async () => {
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
    test('each result equals that of a plain list of events', async () => {
      const property = fc.asyncProperty(arbitraryHistory, async (history) => {
        await follow(await makeCounters(), history, 'exactly')
      })
      await fc.assert(property, RUNS)
    })

    test('no interval of `window` has more than `max`', async () => {
      const property = fc.asyncProperty(arbitraryHistory, async (history) => {
        const steps = history.steps.filter(({ does }) => does !== 'restore')
        const events = await follow(await makeCounters(), { ...history, steps }, 'exactly')
        expectNoStretchOver(history.limits, events)
      })
      await fc.assert(property, RUNS)
    })
  })
}
