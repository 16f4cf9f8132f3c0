// Globs of rules: matching compared with a regular expression, "wider" compared with every word.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { narrowest } from '../model/policy.ts'
import { globMatches, isGlob, isWider, parseGlob, wildcardMatches } from './glob.ts'

const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 5 })
const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 3 })
const key = fc.tuple(part, part).map(([server, name]) => `${server}/${name}`)
const WORDS = wordsUpTo(5, ['a', 'b', 'c'])

function wordsUpTo(length: number, letters: readonly string[]): string[] {
  const words = ['']
  for (let from = 0; (words[from] ?? '').length < length; from++)
    for (const letter of letters) words.push(words[from] + letter)
  return words
}

function oracle(text: string): RegExp {
  const source = [...text].map(
    (letter) => ({ '*': '.*', '?': '.' })[letter] ?? letter.replace(/[.\\/]/, '\\$&'),
  )
  return new RegExp(`^${source.join('')}$`, 's')
}

describe('matching', () => {
  test('equals that of a regular expression', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\n', '.'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, word, (glob, text) => {
        expect(wildcardMatches(glob, text)).toBe(oracle(glob).test(text))
      }),
      runs(5_000),
    )
  })

  test('splits at the first slash and crosses it neither way', () => {
    expect(globMatches(parseGlob('files/*'), 'files', 'file:///etc/passwd')).toBe(true)
    expect(globMatches(parseGlob('*/read'), 'a/b', 'read')).toBe(true)
    expect(globMatches(parseGlob('f*s'), 'files', '')).toBe(false)
    expect(globMatches(parseGlob('a?b/x'), 'a', 'b/x')).toBe(false)
  })

  test('has no other metacharacters, and is case-sensitive', () => {
    expect(isGlob('a/[bc].{d}+')).toBe(false)
    expect(wildcardMatches('[ab]', 'a')).toBe(false)
    expect(wildcardMatches('A*', 'a')).toBe(false)
  })

  test('takes linear time where a regular expression backtracks', () => {
    expect(wildcardMatches(`${'*a'.repeat(100)}b`, 'a'.repeat(10_000))).toBe(false)
  })
})

describe('wider', () => {
  const matched = (glob: string) => WORDS.filter((word) => wildcardMatches(glob, word))
  const covers = (wide: string, narrow: string) =>
    matched(narrow).every((word) => wildcardMatches(wide, word))

  test('is exact, against every word up to five letters', () => {
    // Patterns of up to three characters that differ do so on a word of at most four letters.
    const short = fc.string({
      unit: fc.constantFrom('a', 'b', '*', '?'),
      minLength: 1,
      maxLength: 3,
    })
    fc.assert(
      fc.property(short, short, (one, other) => {
        const wider = isWider(parseGlob(`s/${one}`), parseGlob(`s/${other}`))
        expect(wider).toBe(covers(one, other) && !covers(other, one))
      }),
      runs(2_000),
    )
  })

  test('is asymmetric and irreflexive', () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        expect(isWider(parseGlob(one), parseGlob(one))).toBe(false)
        expect(
          isWider(parseGlob(one), parseGlob(other)) && isWider(parseGlob(other), parseGlob(one)),
        ).toBe(false)
      }),
    )
  })

  test('counts stars in a row as one', () => {
    expect(isWider(parseGlob('s/a**'), parseGlob('s/a*'))).toBe(false)
    expect(isWider(parseGlob('s/**'), parseGlob('s/a*'))).toBe(true)
  })

  test('compares the server and the name together', () => {
    expect(isWider(parseGlob('*/x*'), parseGlob('s/xy'))).toBe(true)
    expect(isWider(parseGlob('*/x'), parseGlob('s/x*'))).toBe(false)
  })

  test('gives up in time on adversarial globs', () => {
    const hard = (tail: string) => parseGlob(`s/*${'a?'.repeat(100)}*b${'?a'.repeat(100)}${tail}`)
    expect(isWider(hard('*'), hard('?*'))).toBeTypeOf('boolean')
  })
})

test('the globs that apply do not depend on their order', () => {
  const shuffled = fc
    .uniqueArray(key, { maxLength: 6 })
    .chain((keys) =>
      fc.tuple(fc.constant(keys), fc.shuffledSubarray(keys, { minLength: keys.length })),
    )
  fc.assert(
    fc.property(shuffled, ([keys, others]) => {
      const counting = (list: readonly string[]) =>
        narrowest(list.map((one) => ({ glob: parseGlob(one) })))
          .count.map(({ glob }) => glob.key)
          .sort()
      expect(counting(others)).toEqual(counting(keys))
    }),
  )
})
