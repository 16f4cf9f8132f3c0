// The small set beside a `Set`, step by step: whatever is put in and taken out, few or many, both say
// the same.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SmallSet } from './small-set.ts'

test('does what a Set does, few or many, and keeps the order', () => {
  const step = fc.tuple(fc.constantFrom('add', 'add', 'delete', 'clear'), fc.nat(30))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const [few, set] = [new SmallSet<number>(), new Set<number>()]
      let cleared = 0
      for (const [what, value] of steps) {
        if (what === 'add') {
          few.add(value)
          set.add(value)
        } else if (what === 'delete') expect(few.delete(value)).toBe(set.delete(value))
        // Seldom, or there would never be many.
        else if (++cleared % 8 === 0) {
          few.clear()
          set.clear()
        }
        expect(few.size).toBe(set.size)
        expect(few.has(value)).toBe(set.has(value))
        expect([...few]).toEqual([...set])
      }
    }),
  )
})
