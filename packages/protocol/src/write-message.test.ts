// What is written is what was read: member texts unchanged, a new envelope, and one line with the
// same meaning, for every JSON text.

import { runSteps } from '@sluice/policy/structures/steps'
import { ExactNumber } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { readJson } from './json/read-json.ts'
import { readMessages } from './read-message.ts'
import {
  oneLine,
  oneLineSteps,
  writeError,
  writeNotification,
  writeRequest,
  writeResult,
} from './write-message.ts'

const BREAKS = /[\n\r\t\u0085\u2028\u2029]/

describe('messages', () => {
  const members = new Map([
    ['name', '"x"'],
    ['arguments', '{"n": 9007199254740993}'],
    ['_meta', '{ }'],
  ])

  test('a request has its members as they were read, in order', () => {
    expect(writeRequest(1, 'tools/call', members)).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call",' +
        '"params":{"name":"x","arguments":{"n": 9007199254740993},"_meta":{ }}}',
    )
  })

  test('overrides replace a member in place, remove it, or add it at the end', () => {
    expect(writeRequest('a', 'm', members, { arguments: undefined, name: '"y"', b: '[]' })).toBe(
      '{"jsonrpc":"2.0","id":"a","method":"m","params":{"name":"y","_meta":{ },"b":[]}}',
    )
    expect(writeRequest(1, 'm', undefined, { a: '1' })).toContain('"params":{"a":1}}')
    expect(writeRequest(1, 'm', new Map([['a', '1']]), { a: undefined })).toContain('"params":{}}')
    expect(writeRequest(1, 'm', new Map([['__proto__', '1']]), {})).toContain('{"__proto__":1}')
  })

  test('no params if none were read', () => {
    expect(writeRequest(1, 'ping', undefined)).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    expect(writeRequest(1, 'ping', undefined, { a: undefined })).not.toContain('params')
    expect(writeNotification('n', undefined)).toBe('{"jsonrpc":"2.0","method":"n"}')
    expect(writeNotification('n', new Map())).toBe('{"jsonrpc":"2.0","method":"n","params":{}}')
  })

  test('responses', () => {
    expect(writeResult('a"', '{"a": 1.50}')).toBe(
      '{"jsonrpc":"2.0","id":"a\\"","result":{"a": 1.50}}',
    )
    expect(writeError(null, -32700, 'no\n')).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no\\n"}}',
    )
    const data = [new ExactNumber('1e-400'), { a: -0, b: [null, true, 'x\u2028'], __proto__x: 0.5 }]
    expect(writeError(1, 1, 'm', data)).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m",' +
        '"data":[1e-400,{"a":-0,"b":[null,true,"x\u2028"],"__proto__x":0.5}]}}',
    )
  })

  test('every message that is read is written with the same meaning and read again', () => {
    const params = fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })))
    fc.assert(
      fc.property(fc.string(), params, fc.nat(3), (method, value, indent) => {
        const given = value === null ? {} : { params: value }
        const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...given }, null, indent)
        const reading = readMessages(text, { batches: false })
        if (!reading.ok) return
        const [message] = reading.messages
        if (message?.kind !== 'request') throw new Error('not a request')
        const written = oneLine(writeRequest(1, method, message.params?.text))
        expect(JSON.parse(written)).toEqual(JSON.parse(text))
        const again = readMessages(written, { batches: false })
        expect(again).toMatchObject({ ok: true, messages: [{ method }] })
      }),
      runs(2_000),
    )
  })
})

describe('one line', () => {
  test('the same text if nothing has to change', () => {
    const text = '{"a": [1, 2], "b":"\\n\\u2028 \\\\"}'
    expect(oneLine(text)).toBe(text)
  })

  test('line breaks and tabs go between tokens, separators are escaped in strings', () => {
    expect(oneLine('{\r\n\t"a" :\n1 ,\r"\u2028b":"\u0085\\\\\u2029"}\n')).toBe(
      '{"a" :1 ,"\\u2028b":"\\u0085\\\\\\u2029"}',
    )
  })

  test('the value stays, digits of numbers too; no break is left; idempotent', () => {
    const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/)
    const text = fc.letrec<{ value: string; string: string }>((tie) => ({
      string: fc
        .array(
          fc.constantFrom('a', '\\n', '\\\\', '\\"', '\u0085', '\u2028', '\u2029', '\\u2028', '😀'),
        )
        .map((units) => `"${units.join('')}"`),
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('null', 'true', '1.50', '-0', '9007199254740993', '1e-400', '1E+2'),
        tie('string'),
        fc
          .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
          .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
        fc
          .uniqueArray(fc.tuple(space, tie('string'), space, space, tie('value'), space), {
            maxLength: 4,
            selector: ([, key]) => JSON.parse(key),
          })
          .map((all) => `{${all.map(([a, k, b, c, v, d]) => `${a}${k}${b}:${c}${v}${d}`)}}`),
      ),
    })).value
    fc.assert(
      fc.property(space, text, space, (before, value, after) => {
        const whole = before + value + after
        const line = oneLine(whole)
        expect(line).not.toMatch(BREAKS)
        expect(oneLine(line)).toBe(line)
        expect(readJson(line)).toStrictEqual(readJson(whole))
        expect(readJson(line).ok).toBe(true)
        const numbers = (json: string): unknown => json.replace(/"(\\.|[^"\\])*"|\s/g, '')
        expect(numbers(line)).toBe(numbers(whole))
      }),
      runs(5_000),
    )
  })

  test('no break is left in any text, and eight million of them are cheap', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\r', '\u2028', 'a') }),
        (text) => {
          expect(oneLine(text)).not.toMatch(BREAKS)
        },
      ),
    )
    const long = `["${'a \u2028'.repeat(100_000)}",\n"${'b'.repeat(300_000)}",\t"\u0085"]`
    const steps = oneLineSteps(long)
    let pauses = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) pauses++
    expect(step.value).toBe(oneLine(long))
    expect(pauses).toBeGreaterThan(long.length / 100_000)
    const plain = 'c'.repeat(300_000)
    expect(runSteps(oneLineSteps(plain))).toBe(plain)
    expect(oneLine('[1\n'.repeat(8_000_000)).length).toBe(16_000_000)
    expect(oneLine('\u2028'.repeat(1_000_000)).length).toBe(6_000_000)
  })
})
