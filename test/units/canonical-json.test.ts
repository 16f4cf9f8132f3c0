import { ExactNumber, type JsonValue } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toCanonicalJsonText } from '../../packages/access/src/approvals/json-text.ts'
import { writeCanonicalJson } from '../../packages/policy/src/values/canonical-json.ts'

/** The former writer of export digests and pins; a copy that must never change. */
function asStored(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(asStored).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${asStored(member)}`)
  return `{${members.join(',')}}`
}

test('bytes that are on disk or signed are the same to the byte', () => {
  const value = {
    é: [1, -0, 1e21, 0.1, null, true, [], {}],
    Z: 'a"\\\n\u2028\ud800',
    '10': { b: undefined, a: { '2': 2, '10': 1 } },
    '\u{1f600}': 1,
    '\uffff': new ExactNumber('9007199254740993.0'),
  }
  expect(writeCanonicalJson(value as never)).toBe(
    '{"10":{"a":{"10":1,"2":2}},"Z":"a\\"\\\\\\n\u2028\\ud800","é":[1,0,1e+21,0.1,null,true,[],{}],"\u{1f600}":1,"\uffff":9007199254740993.0}',
  )
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (any) => {
      const text = writeCanonicalJson(any as JsonValue)
      expect(text).toBe(asStored(any))
      // The canonical text that approvals derive from a text is the same.
      expect(toCanonicalJsonText(JSON.stringify(any))).toBe(text)
    }),
  )
})
