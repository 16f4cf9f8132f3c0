// Into observe mode and out of it again: one line, and every other byte as it was.

import { suggestPolicy } from '@sluice/catalogue/pages/suggest-policy'
import { compile } from '@sluice/policy/compile/compile'
import { describe, expect, test } from 'vitest'
import { addObserveMode, removeObserveMode } from './observe-mode.ts'

const suggested = suggestPolicy([]).yaml

test('a suggested policy is observed, and enforced again to the byte', () => {
  const observed = addObserveMode(suggested)
  expect(compile({ file: 'p', text: observed }).policy?.shadow).toBe(true)
  expect(removeObserveMode(observed)).toBe(suggested)
})

describe('taking the line out', () => {
  test.each([
    [
      'version: 1\r\nmode: shadow # for now\r\ndefault: deny\r\n',
      'version: 1\r\ndefault: deny\r\n',
    ],
    ['default: deny\nversion: 1\nmode: "shadow"', 'default: deny\nversion: 1\n'],
    [
      'mode:\tshadow\nversion: 1\ndefault: deny # mode: shadow\n',
      'version: 1\ndefault: deny # mode: shadow\n',
    ],
  ])('%j', (text, after) => expect(removeObserveMode(text)).toBe(after))

  test.each([
    'version: 1\ndefault: deny\n',
    '{ version: 1, mode: shadow, default: deny }\n',
    'version: 1\nmode: &m shadow\ndefault: deny\n',
    'version: 1\ndefault: deny\ntools:\n  a/b: { action: deny, mode: shadow }\n',
    'version: 1\nmode: enforce\ndefault: deny\n',
  ])('is left to a person: %j', (text) => expect(removeObserveMode(text)).toBeUndefined())
})
