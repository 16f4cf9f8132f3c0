// Rebuilt members: value and text always agree, and every other byte is unchanged.

import type { JsonValue } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { patchObject, readMembers, withMembers } from './members.ts'
import { readMessages } from './read-message.ts'

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 }) as fc.Arbitrary<
  Record<string, JsonValue>
>

describe('members', () => {
  test('with others in their place: value and text agree', () => {
    fc.assert(
      fc.property(object, object, fc.array(key), (before, after, gone) => {
        const texts: Record<string, string | undefined> = {}
        for (const [name, value] of Object.entries(after)) texts[name] = JSON.stringify(value)
        for (const name of gone) texts[name] = undefined
        const members = withMembers(readMembers(JSON.stringify(before)), texts)
        const written = Object.fromEntries(
          [...members.text].map(([name, text]) => [name, JSON.parse(text)]),
        )
        expect(written).toEqual(members.value)
        const wanted = { ...before, ...after }
        for (const name of gone) delete wanted[name]
        expect(written).toEqual(JSON.parse(JSON.stringify(wanted)))
      }),
    )
  })

  test('that are not replaced keep every byte', () => {
    const text = '{ "a" : 1.0e2, "big":12345678901234567890 , "_meta":{"x" :1} }'
    expect(patchObject(text, { _meta: '{}' })).toBe(
      '{"a":1.0e2,"big":12345678901234567890,"_meta":{}}',
    )
    expect(patchObject(undefined, {})).toBe('{}')
    expect(patchObject('{"a":1}', { a: undefined, b: '2' })).toBe('{"b":2}')
  })

  test('are accepted by the strict reader', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const texts = Object.entries(after).map(([name, value]) => [name, JSON.stringify(value)])
        const params = patchObject(JSON.stringify(before), Object.fromEntries(texts))
        const message = `{"jsonrpc":"2.0","id":1,"result":${params}}`
        const read = readMessages(message, { batches: false })
        expect(read.ok || read.code).not.toBe('WIRE_SYNTAX')
      }),
    )
  })
})
