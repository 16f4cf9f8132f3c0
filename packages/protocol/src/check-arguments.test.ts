// Keys of one object that a peer might treat as equal, at every depth, whatever the schema.

import type { JsonValue } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { findUnsafeKeys } from './check-arguments.ts'

describe('F7: two keys of one object that fold alike are found', () => {
  test.each([
    ['in the object itself', { path: 1, Path: 2 }, ['path', 'Path']],
    ['below another', { opts: { a: 1, path: 1, PATH: 2 } }, ['path', 'PATH']],
    ['in a list of lists', { all: [1, null, [{ x: 1 }, { aB: 1, Ab: 2 }]] }, ['aB', 'Ab']],
    ['the Kelvin sign', { token: 1, 'to\u212aen': 2 }, ['token', 'to\u212aen']],
    ['the long s', { user_s: 1, 'user_\u017f': 2 }, ['user_s', 'user_\u017f']],
    ['a dotless i', { id: 1, '\u0131d': 2 }, ['id', '\u0131d']],
    ['a dotted I in two code points', { id: 1, 'I\u0307d': 2 }, ['id', 'I\u0307d']],
    ['a sharp s', { strasse: 1, straße: 2 }, ['strasse', 'straße']],
    ['full width', { path: 1, '\uff50ath': 2 }, ['path', '\uff50ath']],
    ['beside arguments', { name: 'x', extra: 1, Extra: 2, arguments: {} }, ['extra', 'Extra']],
    ['a name of every object', { constructor: 1, Constructor: 2 }, ['constructor', 'Constructor']],
  ] as [string, JsonValue, string[]][])('%s', (_where, value, twins) => {
    expect(findUnsafeKeys(value)).toEqual(twins)
  })

  test.each([
    [undefined],
    ['text'],
    [{ a: { b: 1 }, A1: { B: 1 }, c: [{ a: 1 }, { A: 1 }] }],
    [{ file_path: 1, filePath: 2 }],
    [{ ss: 1, s: 2 }],
  ] as [JsonValue | undefined][])('and none in %j', (value) => {
    expect(findUnsafeKeys(value)).toBeUndefined()
  })

  test('and reads each of many keys once', () => {
    let reads = 0
    const keys = Array.from({ length: 10_000 }, (_, at) => `Key${at}`)
    const value = new Proxy(Object.fromEntries(keys.map((key) => [key, 1])), {
      get: (target, key) => {
        reads++
        return target[key as string]
      },
    })
    expect(findUnsafeKeys(value)).toBeUndefined()
    expect(reads).toBeLessThanOrEqual(2 * keys.length)
  })
})

test.each([
  ['{"__proto__":{"name":"x"}}', '__proto__'],
  ['{"a":[{"\\u005f_proto__":1}]}', '__proto__'],
  ['{"constructor":{"prototype":{"isAdmin":true}}}', 'constructor'],
])('a key that sets a prototype is found: %s', (text, key) => {
  expect(findUnsafeKeys(JSON.parse(text))).toEqual([key])
})

test('a member that is only called constructor is not', () => {
  expect(findUnsafeKeys({ constructor: 'acme', prototype: 'v1' })).toBeUndefined()
})
