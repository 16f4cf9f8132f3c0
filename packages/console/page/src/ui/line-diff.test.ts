import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff, listHunks } from './line-diff.ts'

test('both texts can be restored from their diff', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  fc.assert(
    fc.property(text, text, (old, now) => {
      const [before, after] = [old.join('\n'), now.join('\n')]
      const lines = lineDiff(before, after)
      const of = (left: string) => lines.filter(({ kind }) => kind !== left).map((one) => one.text)
      expect(of('came').join('\n')).toBe(before)
      expect(of('gone').join('\n')).toBe(after)
    }),
  )
})

test('what is far from a change is left out', () => {
  const before = Array.from({ length: 40 }, (_, at) => `line ${at}`)
  const after = before.with(20, 'another')
  const shown = listHunks(lineDiff(before.join('\n'), after.join('\n')))
  expect(shown.filter((line) => line === null).length).toBe(2)
  expect(shown.length).toBe(2 + 3 + 2 + 3)
})
