import { expect, test } from 'vitest'
import { LruMap } from './lru-map.ts'

test('the least recently used entry is evicted, and returned', () => {
  const map = new LruMap<string, number>(2)
  expect(map.set('a', 1)).toBeUndefined()
  expect(map.set('b', 2)).toBeUndefined()
  expect(map.get('a')).toBe(1)
  // Neither counts as a use of `b`.
  expect([map.peek('b'), map.has('b')]).toEqual([2, true])
  expect(map.set('c', 3)).toBe('b')
  expect([...map]).toEqual([
    ['a', 1],
    ['c', 3],
  ])
  // A key that is set again is not a second entry.
  expect(map.set('a', 4)).toBeUndefined()
  expect([map.size, map.set('d', 5), map.get('b')]).toEqual([2, 'c', undefined])
  map.delete('d')
  expect(map.size).toBe(1)
  map.clear()
  expect(map.size).toBe(0)
})
