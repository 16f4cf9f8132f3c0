// The small map beside a `Map`, step by step: whatever is put in and taken out, few or many, both say
// the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SmallMap } from './small-map.ts'

test('does what a Map does, few or many, and keeps the order', () => {
  const step = fc.tuple(fc.constantFrom('set', 'set', 'delete', 'clear'), fc.nat(30), fc.nat())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const [few, map] = [new SmallMap<number, number>(), new Map<number, number>()]
      let cleared = 0
      for (const [what, key, value] of steps) {
        if (what === 'set') {
          few.set(key, value)
          map.set(key, value)
        } else if (what === 'delete') expect(few.delete(key)).toBe(map.delete(key))
        // Seldom, or there would never be many.
        else if (++cleared % 8 === 0) {
          few.clear()
          map.clear()
        }
        expect(few.size).toBe(map.size)
        expect(few.has(key)).toBe(map.has(key))
        expect(few.get(key)).toBe(map.get(key))
        expect(few.entries()).toEqual([...map])
        expect(few.values()).toEqual([...map.values()])
      }
    }),
  )
})
