// Which keys differ only in case: at least all that any peer might consider equal.

import { describe, expect, test } from 'vitest'
import { findCaseVariant } from './check-arguments.ts'
import { foldCase } from './json/fold-case.ts'
import { PARAMS_KEYS } from './known-keys.ts'

describe('folding', () => {
  test('covers every pair that simple case folding does (Go, ECMAScript /iu)', () => {
    const cased: string[] = []
    for (let code = 0; code < 0x1_f000; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const letter = String.fromCodePoint(code)
      if (letter.toLowerCase() !== letter || letter.toUpperCase() !== letter) cased.push(letter)
    }
    const all = cased.join('')
    const wrong: string[] = []
    for (const letter of cased)
      for (const [other] of all.matchAll(new RegExp(letter, 'giu')))
        if (foldCase(letter) !== foldCase(other)) wrong.push(`${letter} ${other}`)
    expect(cased.length).toBeGreaterThan(2_500)
    expect(wrong).toEqual([])
  })

  test.each([
    ['argumentſ', 'arguments'],
    ['NAME', 'name'],
    ['toKen', 'token'],
    ['İd', 'id'],
    ['ıd', 'id'],
    ['STRASSE', 'straße'],
    ['ΣΑΣ', 'σας'],
  ])('%s is %s', (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other))
  })

  test('keys that differ in more are not equal', () => {
    for (const key of ['nam', 'names', 'na_me', 'meta', '', ' name', 'argument', 'name\0'])
      expect(PARAMS_KEYS.findVariant(key)).toBeUndefined()
  })
})

describe('arguments', () => {
  const declared = { path: {}, maxDepth: {}, ID: {}, id: {} }

  test.each([
    [{}, undefined],
    [{ path: 1, maxDepth: 2, ID: 3, id: 4, other: 5 }, undefined],
    [{ Path: 1 }, 'Path'],
    [{ path: 1, PATH: 2 }, 'PATH'],
    [{ maxdepth: 1 }, 'maxdepth'],
    [{ max_depth: 1 }, undefined],
    [{ Id: 1 }, 'Id'],
    [{ other: { Path: 1 } }, undefined],
  ])('%j: %s', (args, twin) => {
    // Twice: the declaration is read once.
    expect(findCaseVariant(args, declared)).toBe(twin)
    expect(findCaseVariant(args, declared)).toBe(twin)
    expect(findCaseVariant(args, {})).toBeUndefined()
  })

  test('what every object inherits is not a declared name', () => {
    expect(findCaseVariant({ CONSTRUCTOR: 1 }, {})).toBeUndefined()
    expect(findCaseVariant({ CONSTRUCTOR: 1 }, { constructor: {} })).toBe('CONSTRUCTOR')
  })
})
