// Headers that repeat the body: every text round-trips, and headers that differ from the body are
// found, whichever of the two has more.

import type { JsonObject } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Base64,
  decodeValue,
  describeMismatch,
  encodeValue,
  listParamHeaders,
  nameIn,
  type ParamHeader,
  readArgumentAt,
} from './mcp-headers.ts'

const BASE64: Base64 = {
  encode: (text) => Buffer.from(text, 'utf8').toString('base64'),
  decode: (base64) => {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
        Buffer.from(base64, 'base64'),
      )
    } catch {
      return undefined
    }
  },
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary-ascii' }),
  fc.string().map((inner) => `=?base64?${inner}?=`),
)

describe('a value in a header', () => {
  test('round-trips, and is valid in a header', () => {
    fc.assert(
      fc.property(text, (value) => {
        const header = encodeValue(value, BASE64)
        expect(header).toMatch(/^[\x20-\x7e\t]*$/)
        expect(header).toBe(header.trim())
        expect(decodeValue(header, BASE64)).toBe(value)
      }),
    )
  })

  test('as in the protocol', () => {
    expect(encodeValue('us-west1', BASE64)).toBe('us-west1')
    expect(encodeValue('Hello, 世界', BASE64)).toBe('=?base64?SGVsbG8sIOS4lueVjA==?=')
    expect(encodeValue(' padded ', BASE64)).toBe('=?base64?IHBhZGRlZCA=?=')
    expect(encodeValue('line1\nline2', BASE64)).toBe('=?base64?bGluZTEKbGluZTI=?=')
    expect(encodeValue('=?base64?literal?=', BASE64)).toBe('=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=')
  })

  test('that no honest client writes is invalid', () => {
    for (const header of ['=?base64?a?=', '=?base64?/w==?=', '=?base64?YQ?=', 'é', 'a\u0000'])
      expect(decodeValue(header, BASE64)).toBeUndefined()
    // Case-sensitive: this is an ordinary text.
    expect(decodeValue('=?BASE64?YQ==?=', BASE64)).toBe('=?BASE64?YQ==?=')
  })
})

const WANTED: readonly ParamHeader[] = [
  { header: 'mcp-param-a', path: ['a'] },
  { header: 'mcp-param-b', path: ['in', 'b'] },
]
/** Without digits: a header has no types, so `"7"` and 7 are the same there. */
const words = fc.string({ unit: 'grapheme' }).filter((word) => !/\d/.test(word))
const value = fc.oneof(words, fc.boolean(), fc.maxSafeInteger())
const args = fc.record(
  { a: fc.option(value), in: fc.record({ b: fc.option(value) }, { requiredKeys: [] }) },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>

/** As a client writes them. */
function headersOf(of: JsonObject): Map<string, string> {
  const headers = new Map<string, string>()
  for (const { header, path } of WANTED) {
    const repeated = readArgumentAt(of, path)
    if (repeated !== undefined) headers.set(header, encodeValue(String(repeated), BASE64))
  }
  return headers
}

describe('headers and body', () => {
  test('agree if a client wrote both', () => {
    fc.assert(
      fc.property(args, (given) => {
        expect(describeMismatch(headersOf(given), WANTED, given, BASE64)).toBeUndefined()
      }),
    )
  })

  test('of two calls agree only if the calls are equal, in both directions', () => {
    fc.assert(
      fc.property(args, args, (one, other) => {
        const headerOf = (of: JsonObject) =>
          JSON.stringify(WANTED.map(({ path }) => String(readArgumentAt(of, path) ?? '\u0000none')))
        const isSame = headerOf(one) === headerOf(other)
        const agree = (from: JsonObject, body: JsonObject) =>
          describeMismatch(headersOf(from), WANTED, body, BASE64) === undefined
        expect([agree(one, other), agree(other, one)]).toEqual([isSame, isSame])
      }),
    )
  })

  test('a header that is not declared, or whose argument is absent or null, is a mismatch', () => {
    for (const given of [{}, { a: null }, { a: { b: 1 } }, { a: [1] }])
      expect(describeMismatch(new Map([['mcp-param-a', '1']]), WANTED, given, BASE64)).toBeDefined()
    expect(describeMismatch(new Map([['mcp-param-c', '1']]), WANTED, {}, BASE64)).toBeDefined()
    expect(describeMismatch(new Map(), WANTED, { a: 'x' }, BASE64)).toBeDefined()
    expect(
      describeMismatch(new Map([['mcp-param-a', 'é']]), WANTED, { a: 'é' }, BASE64),
    ).toBeDefined()
  })

  test('a number is compared as a number, but not in spellings that only some accept', () => {
    const agree = (header: string, a: number) =>
      describeMismatch(new Map([['mcp-param-a', header]]), WANTED, { a }, BASE64) === undefined
    expect([agree('42', 42), agree('42.0', 42), agree('-7', -7)]).toEqual([true, true, true])
    for (const [header, body] of [
      ['0x2a', 42],
      ['4.2e1', 42],
      ['', 0],
      ['43', 42],
      ['Infinity', 42],
    ] as const)
      expect(agree(header, body)).toBe(false)
  })
})

describe('parameters a tool wants repeated', () => {
  const string = (name: unknown) => ({ type: 'string', 'x-mcp-header': name })

  test('are found along properties', () => {
    const schema = {
      properties: {
        a: string('A'),
        in: { type: 'object', properties: { b: string('B') } },
        list: { type: 'array', items: { properties: { 'x-mcp-header': { type: 'string' } } } },
        data: { enum: [string('C')], default: string('D'), 'x-own': string('E') },
      },
    }
    expect(listParamHeaders(schema as JsonObject)).toEqual(WANTED)
    expect(listParamHeaders(undefined)).toEqual([])
  })

  test.each([
    ['no text', { a: string(7) }],
    ['empty', { a: string('') }],
    ['no token', { a: string('a b') }],
    ['a line break', { a: string('a\r\nb') }],
    ['twice but for case', { a: string('A'), b: string('a') }],
    ['of a number', { a: { type: 'number', 'x-mcp-header': 'A' } }],
    ['of an object', { a: { type: 'object', 'x-mcp-header': 'A' } }],
    ['in a list', { a: { type: 'array', items: string('A') } }],
    ['in an alternative', { a: { anyOf: [{ properties: { b: string('B') } }] } }],
    ['in a definition', { a: { $defs: { b: string('B') } } }],
    ['under a pattern', { a: { patternProperties: { b: string('B') } } }],
  ])('is not followed where it is %s', (_, properties) => {
    expect(listParamHeaders({ properties } as JsonObject)).toBeUndefined()
  })
})

test('names of a request', () => {
  const params = (value: JsonObject) => ({ value, text: new Map<string, string>() })
  expect(nameIn('tools/call', params({ name: 'a', uri: 'b' }))).toBe('a')
  expect(nameIn('resources/read', params({ name: 'a', uri: 'b' }))).toBe('b')
  expect(nameIn('tasks/get', params({ taskId: 't' }))).toBe('t')
  expect(nameIn('tools/list', params({ name: 'a' }))).toBeUndefined()
  expect(nameIn('tools/call', params({ name: 7 }))).toBeUndefined()
  expect(nameIn('tools/call', undefined)).toBeUndefined()
})
