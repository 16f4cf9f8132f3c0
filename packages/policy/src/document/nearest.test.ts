// "Did you mean": helpful for a typing mistake, silent if a guess would mislead.

import { describe, expect, test } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

describe('nearest', () => {
  test.each([
    ['alow', 'allow'],
    ['dney', 'deny'],
    ['DENY', 'deny'],
    ['rate-limit', 'rate_limit'],
    ['requireapproval', 'require_approval'],
  ])('%s is taken for %s', (word, meant) => {
    expect(nearest(word, ['allow', 'deny', 'hide', 'require_approval', 'rate_limit'])).toBe(meant)
  })

  test.each(['', 'x', 'block', 'permit', 'constructor'])('%j has no suggestion', (word) => {
    expect(nearest(word, ['allow', 'deny', 'hide', 'require_approval'])).toBeUndefined()
  })

  test('the closer word wins in any order', () => {
    expect(nearest('tool', ['tools', 'toolss'])).toBe('tools')
    expect(nearest('tool', ['toolss', 'tools'])).toBe('tools')
  })
})

describe('did you mean', () => {
  test('lists the known words if none is near', () => {
    expect(didYouMean('block', ['allow', 'deny'])).toBe('one of `allow`, `deny`')
    expect(didYouMean('block', ['allow', 'deny'], 'say another')).toBe('say another')
  })

  test('names a letter that only looks like one of the keyboard', () => {
    expect(didYouMean('\u0430llow', ['allow'])).toBe(
      'did you mean `allow`? (it has the letter U+0430 in it)',
    )
  })
})
