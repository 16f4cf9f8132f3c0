// What the finders of orders look at: parts of a text near words that a pattern cannot do without.

import { expect, test } from 'vitest'
import { joinWrapped } from './join-wrapped.ts'
import { anyOf, anyOfAt, NeedsFinder } from './needs.ts'

const finder = new NeedsFinder([
  { needs: anyOf('red|blue', ' ', 'car|bus'), reach: 10 },
  { needs: anyOfAt('tag', /(?<=<)/), reach: 5 },
  { needs: anyOf('指示|указани'), reach: 5 },
])

function windowsIn(text: string): Record<number, string[]> {
  const windows = finder.windowsIn(text, { charsLeft: 1_000 })
  return Object.fromEntries(
    [...windows].map(([index, spans]) => [
      index,
      spans.map(({ start, end }) => text.slice(start, end)),
    ]),
  )
}

test.each([
  ['a red bike and a blue boat', {}],
  ['a red car', { 0: ['a red car'] }],
  ['red bus', { 0: ['red bus'] }],
  [`${'.'.repeat(30)}blue car${'.'.repeat(30)}`, { 0: [`${'.'.repeat(10)}blue car..`] }],
  ['red car, blue bus', { 0: ['red car, blue bus'] }],
  [`red car${' '.repeat(40)}blue bus`, { 0: ['red car   ', `${' '.repeat(10)}blue bus`] }],
  ['a tag <tag>', { 1: ['tag <tag>'] }],
  ['请指示我', { 2: ['请指示我'] }],
  ['指示', { 2: ['指示'] }],
  ['指', {}],
  ['все указания', { 2: ['все указа'] }],
  ['re', {}],
])('parts of %j', (text, parts) => expect(windowsIn(text)).toEqual(parts))

test('a word that is too short to be looked for is refused where it is written', () => {
  expect(() => new NeedsFinder([{ needs: anyOf('ab'), reach: 1 }])).toThrow('ab is too short')
})

test('what is tried is charged', () => {
  const budget = { charsLeft: 1_000 }
  finder.windowsIn('red '.repeat(100), budget)
  expect(budget.charsLeft).toBeLessThan(1_000)
})

/** As one expression says it, which tries every character. */
const WRAPPED = /(?<=\S)[ \t]*\r?\n[ \t>]*(?=[^\s>*•#|{}"<\d-])/g

test('wrapped lines are joined, and nothing else', () => {
  const parts = ['a', 'b.', ' ', '\t', '\n', '\r\n', '\r', '>', '- c', '•', '1', '{', '\u00a0', '']
  for (let seed = 1; seed < 20_000; seed++) {
    let text = ''
    for (let left = seed * 7_919; left > 0; left = Math.floor(left / parts.length))
      text += parts[left % parts.length]
    expect(joinWrapped(text)).toBe(text.replace(WRAPPED, ' '))
  }
})
