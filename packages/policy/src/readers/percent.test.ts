// Percent decoding: to the fixed point, as UTF-8 if valid, and in linear time.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodePercent } from './percent.ts'

test.each([
  ['', ''],
  ['100%', '100%'],
  ['%zz %', '%zz %'],
  ['%2f%2F', '//'],
  ['%252f', '/'],
  ['%25%32%66', '/'],
  ['%2%35%32f', '/'],
  ['a%C3%A9b', 'aéb'],
  ['%E2%82%AC%F0%9F%98%80', '€😀'],
  ['%ff%fe', 'ÿþ'],
  ['%C3', 'Ã'],
  ['%C3x', 'Ãx'],
  ['%E0%80%80', 'à\u0080\u0080'],
  ['%F0%80%80%80', 'ð\u0080\u0080\u0080'],
  ['%F4%90%80%80', 'ô\u0090\u0080\u0080'],
  ['%ED%A0%80', 'í\u00a0\u0080'],
  ['日本%41', '日本A'],
])('%s is decoded', (text, decoded) => {
  expect(decodePercent(text)).toBe(decoded)
})

test('decodes what the platform decodes, and leaves nothing to decode', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (units) => {
      // Excludes lone surrogates, which the platform rejects, and `%`, which would be decoded
      // again.
      const text = units.replace(/[%\p{Cs}]/gu, '')
      expect(decodePercent(encodeURIComponent(text))).toBe(text)
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.constantFrom('%', '2', '5', 'f', '4', '1', 'é')), (units) => {
      expect(decodePercent(units.join(''))).not.toMatch(/%[0-9a-f]{2}/i)
    }),
  )
})
