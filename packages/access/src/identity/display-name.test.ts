// No part of a URI that may hold a token is shown.

import { expect, test } from 'vitest'
import { displayName } from './display-name.ts'

test.each([
  ['https://u:p@h/a?token=abc&x=1#frag', 'https://***@h/a?token=***&x=***#***'],
  ['https:u:p@h', 'https:***@h'],
  ['https:\\\\u:p@h\\a', 'https:\\\\***@h\\a'],
  ['db://h/t?secret', 'db://h/t?***'],
  ['db://h/t?a=b=c&&d', 'db://h/t?a=***&&***'],
  ['file:///a#token', 'file:///a#***'],
  ['http:////u:p@h/a', 'http:////***@h/a'],
  ['file:///a/b@c', 'file:///a/b@c'],
  ['notes/1', 'notes/1'],
])('F13: %s is shown as %s', (uri, shown) => {
  expect(displayName('resources/read', uri)).toBe(shown)
  expect(displayName('resources/subscribe', uri)).toBe(shown)
  expect(displayName('tools/call', uri)).toBe(uri)
})
