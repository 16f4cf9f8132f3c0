// Counters after a restart are what they were: the charges of intents are restored with their age.

import type { LimitCharge } from '@sluice/policy/calls/counters'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../chain/read.ts'
import { allowed, decisionEntry, denied, take } from '../decision-entries.test-support.ts'
import { Ledger } from '../ledger.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { restoreLimits } from './restore-limits.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000
const aDay: LimitCharge = {
  key: 'money',
  kind: 'spend',
  windowMs: 24 * HOUR,
  max: { units: 5_000_000n, scale: 2 },
  amount: { units: 1_999n, scale: 2 },
}

async function ledgerOf(calls: readonly { ageMs: number; limits: readonly LimitCharge[] }[]) {
  const directory = freshDirectory()
  const ledger = Ledger.open({ directory })
  for (const [n, { ageMs, limits }] of calls.entries())
    await ledger.intent(decisionEntry(n, { atMs: NOW - ageMs, decision: { ...allowed, limits } }))
  return { directory, ledger, restored: (windowMs = 24 * HOUR) => restored(directory, windowMs) }
}

function restored(directory: string, windowMs: number) {
  const database = openLedgerReadOnly(directory)
  const all = [...restoreLimits(database, NOW, windowMs)]
  database.close()
  return all.map(({ ageMs, charges }) => [ageMs, ...charges.map(({ key }) => key)])
}

test('oldest first, each charge while its window lasts', async () => {
  const { ledger, restored } = await ledgerOf([
    { ageMs: 25 * HOUR, limits: [aDay] },
    { ageMs: 2 * HOUR, limits: [take, aDay] },
    { ageMs: 30_000, limits: [take] },
    { ageMs: 20_000, limits: [] },
    { ageMs: 10_000, limits: [take, aDay] },
  ])
  await ledger.refuse(decisionEntry(9, { atMs: NOW, decision: denied }))
  ledger.close()
  expect(restored()).toEqual([
    [2 * HOUR, 'money'],
    [30_000, take.key],
    [10_000, take.key, 'money'],
  ])
  expect(restored(60_000)).toEqual([
    [30_000, take.key],
    [10_000, take.key, 'money'],
  ])
})

test('refunds are left out, charges of shadow rules are included', async () => {
  const { directory, ledger } = await ledgerOf([
    { ageMs: 3_000, limits: [take] },
    { ageMs: 2_000, limits: [take] },
  ])
  ledger.outcome(1, { atMs: NOW, status: 'error', givenBack: true })
  ledger.outcome(2, { atMs: NOW, status: 'answered' })
  const { rule, action, code, reason } = denied
  const shadow = [{ rule, action, code, reason, limits: [{ ...take, key: 'shadow:x' }] }]
  await ledger.intent(decisionEntry(3, { atMs: NOW, decision: { ...allowed, limits: [], shadow } }))
  ledger.close()
  expect(restored(directory, HOUR)).toEqual([
    [2_000, take.key],
    [0, 'shadow:x'],
  ])
})

test('keys of any spelling are restored', async () => {
  const keys = ['a"]b', '\\', '[[', ']', '\\"]', 'ü\u2028', '"'].map((key) => ({ ...take, key }))
  const { ledger, restored } = await ledgerOf([
    { ageMs: 2, limits: keys },
    { ageMs: 1, limits: [] },
  ])
  ledger.close()
  expect(restored()).toEqual([[2, ...keys.map(({ key }) => key)]])
})

test('a clock that was temporarily set back hides nothing, and forgets no charge', async () => {
  const { ledger, restored } = await ledgerOf([
    { ageMs: 5_000, limits: [take] },
    { ageMs: 400 * 24 * HOUR, limits: [take] },
    { ageMs: -7_000, limits: [take] },
  ])
  ledger.close()
  expect(restored()).toEqual([
    [5_000, take.key],
    [5_000, take.key],
    [-7_000, take.key],
  ])
})

test('amounts are restored exactly, and the counters are as before', async () => {
  const amount = { units: 10n ** 70n + 1n, scale: 60 }
  const { directory, ledger } = await ledgerOf([{ ageMs: 1_000, limits: [{ ...aDay, amount }] }])
  ledger.close()
  const database = openLedgerReadOnly(directory)
  const counters = new MemoryCounters()
  const now = { wallMs: NOW, monotonicMs: 0 }
  for (const { charges, ageMs } of restoreLimits(database, NOW, 24 * HOUR)) {
    expect(charges).toEqual([{ ...aDay, amount, max: { units: 50_000n, scale: 0 } }])
    counters.restore(charges, ageMs, now)
  }
  database.close()
  expect(counters.look({ ...take, key: 'money' }, now).passes).toBe(false)
})
