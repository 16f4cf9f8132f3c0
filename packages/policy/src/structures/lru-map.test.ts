import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { LruMap } from './lru-map.ts'

test('whatever is used and removed in between, the least recently used is evicted', () => {
  const key = fc.integer({ min: 0, max: 12 })
  const action = fc.record({ does: fc.constantFrom('get', 'set', 'delete', 'clear', 'many'), key })
  const property = fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
    const [map, plain] = [new LruMap<number, number>(6), new Map<number, number>()]
    const touch = (key: number): void => {
      plain.delete(key)
      plain.set(key, key)
    }
    for (const { does, key } of actions) {
      if (does === 'set') {
        touch(key)
        const [oldest] = plain.size > 6 ? plain.keys() : []
        if (oldest !== undefined) plain.delete(oldest)
        expect(map.set(key, key)).toBe(oldest)
      } else if (does === 'delete') expect([map.delete(key), plain.delete(key)]).toHaveLength(2)
      else if (does === 'clear') expect([map.clear(), plain.clear()]).toHaveLength(2)
      else
        for (let times = does === 'many' ? 1_100 : 1; times > 0; times--) {
          if (plain.has(key)) touch(key)
          map.get(key)
        }
      if ([...map].join() !== [...plain].join()) expect([...map]).toEqual([...plain])
    }
  })
  fc.assert(property, runs(100))
})

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
