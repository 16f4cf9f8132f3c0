// Objects and arrays split into texts: nothing but the white space between them is lost.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JSON_LIMITS } from './limits.ts'
import { splitElements, splitMembers } from './raw-members.ts'

describe('spans', () => {
  test('are the exact texts, in order', () => {
    const text = ' { "b" : [ 1.50 ,2] , "\\u0061":{"x":9007199254740993},"1":null } '
    expect([...splitMembers(text)]).toEqual([
      ['b', '[ 1.50 ,2]'],
      ['a', '{"x":9007199254740993}'],
      ['1', 'null'],
    ])
    expect([...splitElements(' [ 1.50 , {"a" : 1} ,"]"] ')]).toEqual(['1.50', '{"a" : 1}', '"]"'])
  })

  test.each(['1', '"a"', 'null', '[]', '{}'])('%s has none', (text) => {
    expect([splitMembers(text).size, ...splitElements(text)]).toEqual([0])
  })

  test('F9: texts at the limits of a result are split', () => {
    const count = JSON_LIMITS.skippedTokensMax / 2 - 1
    const object = `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`
    const array = `[${'1,'.repeat(2 * count)}1]`
    expect([splitMembers(object).size, ...splitElements(object)]).toEqual([count])
    expect([splitMembers(array).size, [...splitElements(array)].length]).toEqual([0, 2 * count + 1])
  })

  test('what the strict reader refuses is an error', () => {
    for (const text of ['', '[1', '{"a":1,"a":2}', '[1e400]']) {
      expect(() => splitMembers(text)).toThrow('strict reader')
      expect(() => [...splitElements(text)]).toThrow('strict reader')
    }
  })

  test('joined again they have the same value', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(object, fc.array(fc.jsonValue()), fc.nat(2), (members, items, indent) => {
        const parts = [...splitMembers(JSON.stringify(members, null, indent))]
        const joined = `{${parts.map(([key, text]) => `${JSON.stringify(key)}:${text}`)}}`
        expect(JSON.parse(joined)).toEqual(JSON.parse(JSON.stringify(members)))
        const elements = [...splitElements(JSON.stringify(items, null, indent))]
        expect(JSON.parse(`[${elements}]`)).toEqual(JSON.parse(JSON.stringify(items)))
      }),
    )
  })
})
