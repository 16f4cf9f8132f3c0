// Values by name or glob: the exact one, those that match, and which of them count.

import { describe, expect, test } from 'vitest'
import { NameMap, narrowest } from './policy.ts'

const map = new NameMap([
  ['a/b', 1],
  ['a/*', 2],
  ['*/*', 3],
  ['*/b', 4],
  ['a/b/c', 5],
])

describe('NameMap', () => {
  test('has a size and its values', () => {
    expect(map.size).toBe(5)
    expect(map.values().sort()).toEqual([1, 2, 3, 4, 5])
    expect(new NameMap([]).size).toBe(0)
  })

  test.each([
    ['a', 'b', 1, [1, 2, 3, 4]],
    ['a', 'b/c', 5, [5, 2, 3]],
    ['c', 'b', undefined, [3, 4]],
    ['a', '__proto__', undefined, [2, 3]],
  ])('%s/%s', (server, name, exact, all) => {
    expect(map.exact(server, name)).toBe(exact)
    expect(map.all(server, name)).toEqual(all)
  })

  test('nothing is found where there is nothing', () => {
    expect(new NameMap<number>([]).exact('a', 'b')).toBeUndefined()
    expect(new NameMap<number>([]).all('a', 'b')).toEqual([])
  })

  test('a glob that is wider than another gives way, and it is told to which', () => {
    const { count, wider } = narrowest(map.globs('a', 'b'))
    expect(count.map(({ glob }) => glob.key)).toEqual(['a/*', '*/b'])
    expect(wider.map(({ glob, than }) => [glob.glob.key, than.glob.key])).toEqual([['*/*', 'a/*']])
  })
})
