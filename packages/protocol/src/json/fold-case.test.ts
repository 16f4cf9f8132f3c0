// The cost of folding keys: refusals are counted, not time.

import { describe, expect, test, vi } from 'vitest'
import { findCaseVariant, findUnsafeKeys } from '../check-arguments.ts'
import { ENVELOPE_KEYS } from '../known-keys.ts'
import { readMessages } from '../read-message.ts'
import { FoldBudget, foldCase } from './fold-case.ts'
import {
  COMBINING_MARKS_MAX,
  FOLD_MEMO_KEYS_MAX,
  FOLD_UNITS_MAX,
  FOLD_UNITS_PER_KEY,
  FOLDED_KEY_LENGTH_MAX,
} from './limits.ts'

const call = (args: object, name = 'no-such-tool') =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
const keys = (count: number, write: (at: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [write(at), 1]))

/** UTF-16 code units that `normalize` got while `work` ran. */
function unitsNormalized(work: () => void): number {
  let units = 0
  const { normalize } = String.prototype
  const spy = vi.spyOn(String.prototype, 'normalize').mockImplementation(function (
    this: string,
    form?: string,
  ) {
    units += this.length
    return normalize.call(this, form)
  })
  work()
  spy.mockRestore()
  return units
}

describe('F6: keys that are expensive to fold are refused before they are folded', () => {
  test.each([
    [
      'long keys that NFKC makes longer',
      keys(500, (at) => '\ufdfa'.repeat(9_000) + at),
      'a key beyond ASCII of 9001',
    ],
    [
      'two piles of combining marks',
      keys(2, (at) => `${at}${'\u0315\u0300'.repeat(500)}`),
      'more than 30 combining',
    ],
    ['many short keys', keys(24_000, (at) => `é${at}`), `more than ${FOLD_UNITS_MAX} units`],
    [
      'many keys that NFKC makes longer',
      keys(1_500, (at) => `\ufdfa${at}`),
      `more than ${FOLD_UNITS_MAX} units`,
    ],
    [
      'keys over many objects',
      { all: Array.from({ length: 5_000 }, (_, at) => ({ [`é${at}`]: 1, b: 1 })) },
      `more than ${FOLD_UNITS_MAX} units`,
    ],
  ])('%s', (_, args, why) => {
    const units = unitsNormalized(() => {
      const read = readMessages(call(args), { batches: false })
      expect(read).toMatchObject({
        ok: false,
        code: 'WIRE_SIZE',
        message: expect.stringContaining(why),
      })
    })
    expect(units).toBeLessThanOrEqual(FOLD_UNITS_MAX)
  })

  test('so are those of `params`, and of a batch together', () => {
    const wide = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: keys(24_000, (at) => `é${at}`),
    })
    expect(readMessages(wide, { batches: false })).toMatchObject({ ok: false, code: 'WIRE_SIZE' })
    const batch = Array.from({ length: 50 }, (_, at) => call(keys(100, (key) => `é${at}-${key}`)))
    expect(readMessages(`[${batch}]`, { batches: true })).toMatchObject({
      ok: false,
      code: 'WIRE_SIZE',
    })
  })

  test('a key of the envelope is not normalized if it is too long', () => {
    const key = '\ufdfa'.repeat(FOLDED_KEY_LENGTH_MAX + 1)
    expect(
      unitsNormalized(() => expect(ENVELOPE_KEYS.findVariant(key)).toBeUndefined()),
    ).toBeLessThan(200)
  })

  test('ASCII keys are never normalized, and repeated keys are charged and folded once', () => {
    const ascii = keys(20_000, (at) => `Key${at}${'x'.repeat(at === 0 ? 5_000 : 1)}`)
    expect(
      unitsNormalized(() => expect(readMessages(call(ascii), { batches: false }).ok).toBe(true)),
    ).toBe(0)
    const rows = { rows: Array.from({ length: 5_000 }, () => ({ 名前: 1, 住所: 2 })) }
    const units = unitsNormalized(() => {
      expect(readMessages(call(rows), { batches: false }).ok).toBe(true)
      expect(findUnsafeKeys(rows)).toBeUndefined()
    })
    expect(units).toBeLessThan(50)
  })

  test('if a declared key cannot be folded, every undeclared key counts as its variant', () => {
    const long = 'é'.repeat(FOLDED_KEY_LENGTH_MAX + 1)
    expect(findCaseVariant({ path: 1, other: 1 }, { path: {}, [long]: {} })).toBe('other')
    const declared = keys(10_000, (at) => `é${at}`)
    const units = unitsNormalized(() => expect(findCaseVariant({ x: 1 }, declared)).toBe('x'))
    expect(units).toBeLessThanOrEqual(4 * FOLD_UNITS_MAX)
    expect(findCaseVariant({ é1: 1 }, declared)).toBeUndefined()
  })

  test('keys at the limits are accepted', () => {
    const budget = new FoldBudget()
    expect(budget.charge('é'.repeat(FOLDED_KEY_LENGTH_MAX))).toBeUndefined()
    expect(budget.charge(`a${'\u0301'.repeat(COMBINING_MARKS_MAX)}`)).toBeUndefined()
    const fitting = Math.floor(FOLD_UNITS_MAX / (FOLD_UNITS_PER_KEY + 2))
    const fresh = new FoldBudget()
    const faults = Array.from({ length: fitting }, (_, at) =>
      fresh.charge(String.fromCodePoint(0x4e00 + at)),
    )
    expect(faults.every((fault) => fault === undefined)).toBe(true)
    for (let at = 0; at <= FOLD_MEMO_KEYS_MAX; at++) foldCase(`É${at}`)
    expect(foldCase('É1')).toBe('é1')
  })
})
