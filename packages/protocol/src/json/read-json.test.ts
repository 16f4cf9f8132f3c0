// The strict reader: tables of texts it must refuse and accept, agreement with JSON.parse on
// everything both accept, and the attacks by name.

import { ExactNumber, type JsonValue } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { ERRORS, type WireErrorCode } from './errors.ts'
import { JSON_DEPTH_CEILING, JSON_LIMITS } from './limits.ts'
import { BOM, NOT_JSON } from './not-json.test-support.ts'
import { readJson } from './read-json.ts'

const HIGH = '\ud83d'
const LOW = '\ude00'

/** Texts that JSON.parse accepts and this reader does not. */
const REFUSED: [WireErrorCode, string, number][] = [
  ['WIRE_DOUBLED_KEY', '{"a":1,"a":1}', 7],
  ['WIRE_DOUBLED_KEY', '{"a":1,"b":2,"a":3}', 13],
  ['WIRE_DOUBLED_KEY', '{"a":1,"\\u0061":2}', 7],
  ['WIRE_DOUBLED_KEY', '{"\\u0061":1,"a":2}', 12],
  ['WIRE_DOUBLED_KEY', '{"\\u000a":1,"\\n":2}', 12],
  ['WIRE_DOUBLED_KEY', '{"\\/":1,"/":2}', 8],
  ['WIRE_DOUBLED_KEY', `{"${HIGH}${LOW}":1,"\\ud83d\\ude00":2}`, 8],
  ['WIRE_DOUBLED_KEY', '{"":1,"":2}', 6],
  ['WIRE_DOUBLED_KEY', '{"0":1,"0":2}', 7],
  ['WIRE_DOUBLED_KEY', '{"__proto__":1,"__proto__":2}', 15],
  ['WIRE_DOUBLED_KEY', '{"__proto__":1,"\\u005f_proto__":2}', 15],
  ['WIRE_DOUBLED_KEY', '{"constructor":1,"constructor":2}', 17],
  ['WIRE_DOUBLED_KEY', '[[{"x":{"a":1,"b":{},"a":{}}}]]', 21],
  ['WIRE_DOUBLED_KEY', '{"a":null,"a":null}', 10],
  ['WIRE_DOUBLED_KEY', '{"a":1,"a"', 7],
  ['WIRE_LONE_SURROGATE', '"\\ud83d"', 1],
  ['WIRE_LONE_SURROGATE', '"\\ude00"', 1],
  ['WIRE_LONE_SURROGATE', '"\\uD800x"', 1],
  ['WIRE_LONE_SURROGATE', '"\\udbff"', 1],
  ['WIRE_LONE_SURROGATE', '"\\udfff"', 1],
  ['WIRE_LONE_SURROGATE', '"\\ude00\\ud83d"', 1],
  ['WIRE_LONE_SURROGATE', '"\\ud83d\\ud83d\\ude00"', 1],
  ['WIRE_LONE_SURROGATE', '"\\ud83d\\ude00\\ude00"', 13],
  ['WIRE_LONE_SURROGATE', '"\\ud83d \\ude00"', 1],
  ['WIRE_LONE_SURROGATE', '"\\ud83d\\n"', 1],
  ['WIRE_LONE_SURROGATE', '"\\ud83d\\u0041"', 1],
  ['WIRE_LONE_SURROGATE', `"\\ud83d${LOW}"`, 7],
  ['WIRE_LONE_SURROGATE', `"${HIGH}\\ude00"`, 1],
  ['WIRE_LONE_SURROGATE', `"${HIGH}"`, 1],
  ['WIRE_LONE_SURROGATE', `"ab${LOW}"`, 3],
  ['WIRE_LONE_SURROGATE', `"${LOW}${HIGH}"`, 1],
  ['WIRE_LONE_SURROGATE', `{"${HIGH}":1}`, 2],
  ['WIRE_LONE_SURROGATE', '{"\\ud83d":1}', 2],
  ['WIRE_NUMBER', '1e400', 0],
  ['WIRE_NUMBER', '-1e400', 0],
  ['WIRE_NUMBER', '[1E+309]', 1],
  ['WIRE_NUMBER', '1.8e308', 0],
  ['WIRE_NUMBER', '1.7976931348623159e308', 0],
  ['WIRE_NUMBER', '9'.repeat(400), 0],
  ['WIRE_NUMBER', `1e${'9'.repeat(500)}`, 0],
  ['WIRE_NUMBER', '1'.repeat(1_001), 0],
  ['WIRE_NUMBER', `0.${'0'.repeat(1_000)}`, 0],
  ['WIRE_NUMBER', `[0e${'0'.repeat(1_000)}]`, 1],
  ['WIRE_DEPTH', '['.repeat(65) + ']'.repeat(65), 64],
  ['WIRE_DEPTH', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 64 * 5],
]

/** Texts whose value equals that of JSON.parse, without any ExactNumber. */
const ACCEPTED = [
  'null',
  'true',
  'false',
  ' null',
  'null ',
  '\n\r\t null \n\r\t',
  '0',
  '-0',
  '0.0',
  '-0.0',
  '1',
  '-1',
  '100',
  '1e3',
  '1E3',
  '1e+3',
  '1e-3',
  '1.5e3',
  '5.0',
  '0.1',
  '0.10',
  '-0.1',
  '0e0',
  '0E+5',
  '0e400',
  '-0e-400',
  '0.000e999',
  '123456789012345',
  '9007199254740991',
  '9007199254740992',
  '1e22',
  '1e23',
  '1e308',
  '1.7976931348623157e308',
  '5e-324',
  '2.2250738585072014e-308',
  '3.14',
  '100000000000000000000',
  '1000000000000000000000e2',
  '0.00000000000000000000001',
  '123e-2',
  '""',
  '"a"',
  '" "',
  '"\\""',
  '"\\\\"',
  '"\\/"',
  '"/"',
  '"\\b\\f\\n\\r\\t"',
  '"\\u0041"',
  '"\\u0000"',
  '"\\u001f"',
  '"\\ud83d\\ude00"',
  '"\\uD83D\\uDE00"',
  `"${HIGH}${LOW}"`,
  '"é"',
  '"東京"',
  '"\u007f"',
  '"\u0080"',
  '"\u2028\u2029"',
  `"${BOM}"`,
  '"\\ufeff"',
  '"\\uffff\uffff"',
  '"\\ue000"',
  '"\\\\u0061"',
  '"\\\\\\""',
  '"\'"',
  '"// no comment"',
  '"{\\"a\\":1}"',
  '"a\\u0062c\\nd"',
  '"\\ud7ff"',
  '[]',
  '[ ]',
  '[1]',
  '[1,2]',
  '[ 1 , 2 ]',
  '[[]]',
  '[[],[[]],{}]',
  '[null,true,false,"",0]',
  '{}',
  '{ }',
  '{"a":1}',
  '{ "a" : 1 }',
  '{"a":1,"A":2}',
  '{"":0}',
  '{"a b":1}',
  '{"a":{"a":{"a":1}}}',
  '{"\\u0061":1}',
  '{"é":1,"e\u0301":2}',
  '{"0":1,"00":2,"-0":3}',
  '{"a":[],"b":{}}',
  '{"b":1,"a":2}',
  '{"length":1,"0":2}',
  '[{"a":1},{"a":2}]',
  '{"a":1,"b":{"a":1}}',
  '{"toString":1,"valueOf":2}',
  '['.repeat(64) + ']'.repeat(64),
  `${'{"a":'.repeat(64)}1${'}'.repeat(64)}`,
  '{"a\\u0000":1,"a":2}',
]

/** Numbers whose text no double reproduces. */
const EXACT = [
  '9007199254740993',
  '-9007199254740993',
  '0.1000000000000000055',
  '1.00000000000000000001',
  '1e-400',
  '-1e-400',
  '1e-324',
  '4e-324',
  '9007199254740993.0',
  '9007199254740993e0',
  '1e-99999',
  '12345678901234567890',
  '0.12345678901234567890',
  '3.141592653589793238',
  '90071992547409930e-1',
  '1.7976931348623157e308'.replace('7e', '71e'),
  '0.3000000000000000444',
  `1.${'0'.repeat(900)}1`,
  `0.${'0'.repeat(900)}1`,
  `1e-${'9'.repeat(900)}`,
  `${'1'.repeat(300)}`,
  '2.2250738585072011e-309',
]

describe('refused', () => {
  test('the tables are long enough and have no duplicates', () => {
    expect(new Set(NOT_JSON).size + REFUSED.length).toBeGreaterThanOrEqual(120)
    expect(new Set(ACCEPTED).size).toBeGreaterThanOrEqual(60)
  })

  test.each(NOT_JSON)('%j is not JSON', (text) => {
    expect(() => JSON.parse(text)).toThrow()
    const reading = readJson(text)
    expect(reading).toMatchObject({ ok: false, code: 'WIRE_SYNTAX' })
    expectClear(text)
  })

  test.each(REFUSED)('%s: %j', (code, text, offset) => {
    expect(readJson(text)).toMatchObject({ ok: false, code, offset })
    expectClear(text)
  })

  test.each([
    ['', 'expected a value, the text ends', 0],
    ['[1,]', 'expected a value, found `]`', 3],
    ['{"a":1,}', 'expected a key in double quotes, found `}`', 7],
    ['[1 2]', 'expected `,` or `]`, found `2`', 3],
    ['"a\u001bb"', 'expected control characters to be escaped, found `\\u{1b}`', 2],
    ['01', 'a number begins with a needless zero, leave it out', 0],
    ['1 😀', 'expected the end of the text, found `😀`', 2],
    ['{"a":1,"a":2}', 'the key `a` is there twice, keep one', 7],
    [
      '{"\\u202e`\\n":1,"\\u202e`\\n":2}',
      'the key `\\u{202e}\\u{60}\\u{a}` is there twice, keep one',
      15,
    ],
    ['1e400', 'no double represents the number `1e400`', 0],
  ])('%j is told what is wrong and where', (text, message, offset) => {
    expect(readJson(text)).toMatchObject({ ok: false, message, offset })
  })

  test('a long key is truncated in the message, and leaves no lone surrogate', () => {
    const key = `a${'😀'.repeat(1_000)}`
    const reading = readJson(JSON.stringify([{ [key]: 1 }]).replace('}', `,"${key}":2}`))
    const message = reading.ok ? '' : reading.message
    expect(message.length).toBeLessThan(120)
    expect(message).not.toMatch(/\p{Surrogate}/u)
  })
})

describe('accepted', () => {
  test.each(ACCEPTED)('%j', (text) => {
    expect(read(text)).toStrictEqual(JSON.parse(text))
  })

  test.each(EXACT)('%s keeps its text', (text) => {
    expect(read(text)).toStrictEqual(new ExactNumber(text))
    expect(read(`{"a":[ ${text} ]}`)).toStrictEqual({ a: [new ExactNumber(text)] })
  })

  test('keys have the order of JSON.parse', () => {
    const text = '{"b":1,"2":1,"a":1,"1":1}'
    expect(Object.keys(read(text) as object)).toEqual(Object.keys(JSON.parse(text)))
  })
})

describe('attacks', () => {
  test.each([
    ['__proto__ as a key', '{"__proto__":{"admin":true}}'],
    ['__proto__ escaped', '{"\\u005f\\u005fproto\\u005f\\u005f":{"admin":true}}'],
    ['__proto__ as null', '{"__proto__":null}'],
    ['__proto__ as a list', '{"a":{"__proto__":[1]},"b":1}'],
    ['constructor.prototype', '{"constructor":{"prototype":{"admin":true}}}'],
    ['toString, valueOf, toJSON', '{"toString":1,"valueOf":2,"toJSON":3,"hasOwnProperty":4}'],
    ['__defineGetter__', '{"__defineGetter__":1,"__lookupSetter__":2}'],
  ])('%s is an own key and changes no prototype', (_, text) => {
    const value = read(text) as Record<string, unknown>
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(Object.keys(JSON.parse(text)))
    expect(Object.getOwnPropertyDescriptors(value)).toEqual(
      Object.getOwnPropertyDescriptors(JSON.parse(text)),
    )
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
    expect('admin' in {}).toBe(false)
  })

  test('an inherited name is absent unless it is written', () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(Object.hasOwn(read('{}') as object, name)).toBe(false)
  })

  test('an inherited name can be set if Object.prototype is frozen', () => {
    const { prototype } = Object
    const before = Object.getOwnPropertyDescriptor(prototype, 'toString')!
    Object.defineProperty(prototype, 'toString', { writable: false })
    const reading = readJson('{"toString":1}')
    Object.defineProperty(prototype, 'toString', before)
    expect(reading).toMatchObject({ ok: true })
    expect(JSON.stringify(reading.ok && reading.value)).toBe('{"toString":1}')
  })

  test.each(['[', '{"a":', '[{"a":'])('nesting: two million times %j', (open) => {
    expect(readJson(open.repeat(2_000_000))).toMatchObject({ ok: false, code: 'WIRE_DEPTH' })
    const limits = { depthMax: Number.POSITIVE_INFINITY }
    expect(readJson(open.repeat(2_000_000), limits)).toMatchObject({ code: 'WIRE_DEPTH' })
  })

  test('nesting up to the ceiling does not overflow a stack half used', () => {
    const depth = JSON_DEPTH_CEILING
    const text = '['.repeat(depth) + ']'.repeat(depth)
    const under = (frames: number): boolean =>
      frames > 0 ? under(frames - 1) : readJson(text, { depthMax: depth }).ok
    expect(under(2_000)).toBe(true)
  })

  test('siblings are not nesting', () => {
    expect(readJson(`[${Array(1_000).fill('[[]]').join(',')}]`, { depthMax: 3 }).ok).toBe(true)
  })

  test('a number of sixteen million digits, and a string of two million escapes', () => {
    const { escapedLengthMax, lengthMax } = JSON_LIMITS
    expect(readJson('1'.repeat(lengthMax))).toMatchObject({ code: 'WIRE_NUMBER' })
    const text = `"${'\\n'.repeat(escapedLengthMax / 2 - 1)}"`
    expect((read(text) as string).length).toBe(escapedLengthMax / 2 - 1)
    expect(readJson(`["${'\\n'.repeat(escapedLengthMax / 2)}","\\n"]`)).toMatchObject({
      code: 'WIRE_SIZE',
    })
  })
})

describe('limits', () => {
  test.each(['', '\\x"'])(
    'F9: many escapes in a string that ends in `%s` are not explained',
    (end) => {
      const reading = readJson(`"${'\\n'.repeat(100_002)}${end}`)
      expect(reading).toMatchObject({ code: 'WIRE_SYNTAX', offset: 0 })
      expect(reading).toHaveProperty('message', expect.stringContaining('no end, or an escape'))
    },
  )

  test('each applies at its bound and not before', () => {
    expect(readJson('[12]', { lengthMax: 4 }).ok).toBe(true)
    expect(readJson('[12]', { lengthMax: 3 })).toMatchObject({ code: 'WIRE_SIZE', offset: 0 })
    expect(readJson('[1,{"a":2}]', { tokensMax: 5 }).ok).toBe(true)
    expect(readJson('[1,{"a":2}]', { tokensMax: 4 })).toMatchObject({
      code: 'WIRE_SIZE',
      offset: 8,
    })
    const long = '[1234567890123456789,1e5]'
    expect(readJson(long, { longNumbersLengthMax: 22 }).ok).toBe(true)
    expect(readJson(long, { longNumbersLengthMax: 21 })).toMatchObject({
      code: 'WIRE_SIZE',
      offset: 21,
    })
    expect(readJson('["\\n"]', { escapedLengthMax: 3 }).ok).toBe(true)
    expect(readJson('["\\n"]', { escapedLengthMax: 2 })).toMatchObject({ code: 'WIRE_SIZE' })
    expect(readJson('["\\"\\""]', { escapedQuotesMax: 2 }).ok).toBe(true)
    expect(readJson('["\\"\\""]', { escapedQuotesMax: 1 })).toMatchObject({ code: 'WIRE_SIZE' })
    expect(readJson('[[]]', { depthMax: 2 }).ok).toBe(true)
    expect(readJson('[[]]', { depthMax: 1 })).toMatchObject({ code: 'WIRE_DEPTH', offset: 1 })
    expect(readJson('-123', { numberLengthMax: 4 }).ok).toBe(true)
    expect(readJson('-123', { numberLengthMax: 3 })).toMatchObject({ code: 'WIRE_NUMBER' })
  })

  test('the defaults', () => {
    const { lengthMax } = JSON_LIMITS
    expect(readJson(`"${'a'.repeat(lengthMax - 2)}"`).ok).toBe(true)
    expect(readJson(`"${'a'.repeat(lengthMax - 1)}"`)).toMatchObject({ code: 'WIRE_SIZE' })
    const { tokensMax } = JSON_LIMITS
    expect(readJson(`[0${',0'.repeat(tokensMax - 2)}]`).ok).toBe(true)
    expect(readJson(`[0${',0'.repeat(tokensMax - 1)}]`)).toMatchObject({ code: 'WIRE_SIZE' })
    expect(read('1'.padEnd(300, '0'))).toBe(1e299)
    expect(readJson(`0.${'1'.repeat(998)}`).ok).toBe(true)
  })

  test('a bound that is not a number refuses', () => {
    for (const name of Object.keys(JSON_LIMITS))
      if (name !== 'skippedTokensMax')
        expect(readJson('["\\"",1e5]', { [name]: Number.NaN })).toMatchObject({ ok: false })
  })
})

function read(text: string): JsonValue {
  const reading = readJson(text)
  if (!reading.ok) throw new Error(`${reading.code} at ${reading.offset}: ${reading.message}`)
  return reading.value
}

/** Codes are known, offsets are within the text, messages follow the style of the project. */
function expectClear(text: string): void {
  const reading = readJson(text)
  if (reading.ok) throw new Error('was accepted')
  expect(ERRORS).toHaveProperty(reading.code)
  expect(reading.offset).toBeGreaterThanOrEqual(0)
  expect(reading.offset).toBeLessThanOrEqual(text.length)
  expect(reading.message).toMatch(/^[a-z`][^\p{Cc}]*[^.]$/u)
}
