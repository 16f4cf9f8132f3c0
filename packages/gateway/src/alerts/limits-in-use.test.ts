import type { AdmissionStore } from '@sluice/ledger/store/admission'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { parseDecimal } from '@sluice/policy/values/decimal'
import { expect, test } from 'vitest'
import { describeLimitKey, nameCounterOwner } from './describe-limit.ts'
import { LIMITS_LOOKED_MAX } from './limits.ts'
import { LimitsInUse, nameCounter, readCounter, type WatchedCounter } from './limits-in-use.ts'

test('limits in use are what the counters say, the fullest first', async () => {
  const counters = new MemoryCounters()
  const store = {
    usage: counters,
    refund: async () => {},
    admit: async ({ charges, now }: { charges: never; now: never }) =>
      counters.consume(charges, now),
  } as unknown as AdmissionStore<never>
  const limits = new LimitsInUse()
  const now = { wallMs: 0, monotonicMs: 1_000 }
  const charge = (key: string, amount: string, max: string) => ({
    key,
    kind: 'rate' as const,
    windowMs: 60_000,
    amount: parseDecimal(amount),
    max: parseDecimal(max),
  })
  const admit = limits.watch(store).admit
  const charges = [
    charge('a|rate|1|principal|3:ann', '1', '4'),
    charge('b|rate|1|everyone|0:', '9.5', '10'),
  ]
  await admit({ mode: 'charge', charges, now } as never)
  await admit({ mode: 'probe', charges: [charge('c', '1', '1')], now } as never)
  const inUse = await limits.list(now)
  expect(inUse.map(({ key, used, max, share }) => [key, used, max, share])).toEqual([
    ['b|rate|1|everyone|0:', '9.5', '10', 0.95],
    ['a|rate|1|principal|3:ann', '1', '4', 0.25],
  ])
  const nearlyFull = async (at = now, watched: readonly WatchedCounter[] = []) =>
    (await limits.listNearlyFull(0.8, watched, at)).map(({ key }) => key)
  expect(await nearlyFull()).toEqual(['b|rate|1|everyone|0:'])
  // Also when nothing more is charged to it; until its window has passed.
  expect(await nearlyFull()).toEqual(['b|rate|1|everyone|0:'])
  const later = { wallMs: 0, monotonicMs: 100_000 }
  expect([await limits.list(later), await nearlyFull(later)]).toEqual([[], []])
  // A flood of counters is looked at in parts, and none is forgotten.
  const many = 3 * LIMITS_LOOKED_MAX
  for (let at = 0; at < many; at++)
    await admit({ mode: 'charge', charges: [charge(`m${at}`, '9', '10')], now: later } as never)
  const seen = new Set<string>()
  for (let at = 0; at < 10; at++) {
    const found = await nearlyFull(later)
    expect(found.length).toBeLessThanOrEqual(LIMITS_LOOKED_MAX)
    for (const key of found) seen.add(key)
  }
  expect(seen.size).toBe(many)
})

test('a counter that an alert is about is looked at again by a gate that never charged it', async () => {
  const open = () =>
    new LimitsInUse({
      digest: ({ key }) => `digest of ${key.slice(0, 4)}`,
      read: async (counters) =>
        counters.map(({ id }) => ({ units: id === 'digest of full' ? 9n : 1n, scale: 0 })),
    })
  const now = { wallMs: 0, monotonicMs: 0 }
  const limits = open()
  const store = { usage: undefined, admit: async () => undefined } as never as AdmissionStore<never>
  const charges = ['full|6:secret', 'free|6:secret'].map((key) => {
    const most = { max: { units: 10n, scale: 0 }, amount: { units: 1n, scale: 0 } }
    return { key, kind: 'rate' as const, windowMs: 1, ...most }
  })
  await limits.watch(store).admit({ mode: 'charge', charges, now } as never)
  const full = await limits.listNearlyFull(0.8, [], now)
  expect(full).toMatchObject([{ key: 'full|6:secret', used: '9', max: '10', share: 0.9 }])
  // What is stored has no value of an argument.
  const names = full.map(nameCounter)
  expect(names).toEqual(['["digest of full","rate",1,"10"]'])
  const again = await open().listNearlyFull(0.8, names.map(readCounter), now)
  expect(again.map(nameCounter)).toEqual(names)
})

test('the key of a counter in words', () => {
  const key = '/tools/office~1write_note|rate|3600000|principal, args.to|3:ann|6:a|b:c~'
  expect(describeLimitKey(key)).toEqual({
    limit: 'office/write_note',
    whose: 'ann, a|b:c~',
    windowMs: 3_600_000,
  })
  // Messages have no arguments.
  expect(nameCounterOwner(key)).toBe('ann')
  const price = '/tools/exa~1search|price|86400000|args.email of 0.04|15:ann@example.com'
  expect(describeLimitKey(price)).toMatchObject({ limit: 'exa/search', windowMs: 86_400_000 })
  expect(nameCounterOwner(price)).toBe('')
  expect(describeLimitKey('/tools/x|later|1|args.email|15:ann@example.com').limit).toBe('x')
  expect(describeLimitKey('shadow:/defaults|spend|1|everyone of args.n|0:')).toEqual({
    limit: '/defaults',
    whose: '',
    windowMs: 1,
  })
})
