// Exact decimals: what counts as one, and that adding, multiplying and comparing lose nothing.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addDecimal,
  compareDecimal,
  formatDecimal,
  isDecimal,
  multiplyDecimal,
  parseDecimal,
  subtractDecimal,
  toDecimal,
} from './decimal.ts'
import { ExactNumber } from './json.ts'

const nines = '9'.repeat(40)

describe('text', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['12.50', '12.5'],
    ['-3.10', '-3.1'],
    ['007', '7'],
    ['0.0000', '0'],
    ['100', '100'],
    [`${nines}.${nines}`, `${nines}.${nines}`],
  ])('`%s` is %s', (text, plain) => {
    const value = parseDecimal(text)
    expect(value && formatDecimal(value)).toBe(plain)
  })

  test.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '+1',
    '1.',
    '.5',
    '1e3',
    '0x10',
    '1,5',
    '1_000',
    'NaN',
    'Infinity',
    '--1',
    '1.2.3',
    '١',
    '１',
    '1\n',
    `9${nines}`,
    `0.${nines}9`,
  ])('`%s` is no plain decimal', (text) => {
    expect(parseDecimal(text)).toBeUndefined()
    expect(toDecimal(text)).toBeUndefined()
  })
})

describe('JSON numbers', () => {
  test.each<[unknown, string]>([
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [-2.5, '-2.5'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [9007199254740992, '9007199254740992'],
    [new ExactNumber('9007199254740993'), '9007199254740993'],
    [new ExactNumber('0.10000000000000000001'), '0.10000000000000000001'],
    [new ExactNumber('12.5e1'), '125'],
    [new ExactNumber('12.5E+3'), '12500'],
    [new ExactNumber('125e-2'), '1.25'],
    ['1.50', '1.5'],
  ])('%s is %s', (value, plain) => {
    const decimal = toDecimal(value)
    expect(decimal && formatDecimal(decimal)).toBe(plain)
  })

  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['infinite', Number.NEGATIVE_INFINITY],
    ['beyond all digits', 1e300],
    ['closer to zero than all digits', 5e-324],
    ['an exponent bomb', new ExactNumber('1e999999999')],
    ['an exponent beyond the digits', new ExactNumber('1e41')],
    ['too many digits', new ExactNumber('1'.repeat(41))],
    ['too many digits after the point', new ExactNumber(`0.${'1'.repeat(41)}`)],
    ['no number', new ExactNumber('.inf')],
    ['true', true],
    ['null', null],
    ['nothing', undefined],
    ['a list', [1]],
    ['a big integer', 5n],
  ])('%s is none', (_what, value) => {
    expect(toDecimal(value)).toBeUndefined()
  })
})

describe('arithmetic', () => {
  /** A decimal, and the same in units of ten to the minus 12. */
  const decimal = fc
    .record({
      units: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      scale: fc.nat({ max: 6 }),
    })
    .map((value) => ({ value, atomic: value.units * 10n ** BigInt(12 - value.scale) }))

  test('is exact at any scale', () => {
    const property = fc.property(decimal, decimal, (a, b) => {
      const atomic = (value: { units: bigint; scale: number }) =>
        value.units * 10n ** BigInt(12 - value.scale)
      expect(atomic(addDecimal(a.value, b.value))).toBe(a.atomic + b.atomic)
      expect(atomic(subtractDecimal(a.value, b.value))).toBe(a.atomic - b.atomic)
      expect(atomic(multiplyDecimal(a.value, b.value)) * 10n ** 12n).toBe(a.atomic * b.atomic)
      const sign = a.atomic < b.atomic ? -1 : a.atomic > b.atomic ? 1 : 0
      expect(compareDecimal(a.value, b.value)).toBe(sign)
    })
    fc.assert(property)
  })

  test('formatting and parsing round-trip', () => {
    const property = fc.property(decimal, ({ value }) => {
      const again = parseDecimal(formatDecimal(value))
      expect(again && compareDecimal(again, value)).toBe(0)
    })
    fc.assert(property)
  })
})

test.each([
  [{ units: 1n, scale: 0 }, true],
  [{ units: 1, scale: 0 }, false],
  [null, false],
  [undefined, false],
  ['12.5', false],
])('whether %o is a decimal: %s', (value, expected) => {
  expect(isDecimal(value)).toBe(expected)
})
