// Memories at rest: within the bound, and never at the cost of the one that comes.

import { expect, test } from 'vitest'
import { RESTING_BYTES_MAX } from '../shared/limits.ts'
import { SuspendedPrograms } from './suspended-programs.ts'

const part = (share: number) => new Uint8Array(Math.ceil(RESTING_BYTES_MAX * share))

test('the one that comes stays: what waits for a person gives way to what goes on', () => {
  const resting = new SuspendedPrograms()
  const [oldest, old] = [resting.hold(part(0.4)), resting.hold(part(0.4))]
  const fresh = resting.hold(part(0.4))
  expect(resting.bytes).toBeLessThanOrEqual(RESTING_BYTES_MAX)
  expect(resting.take(oldest)).toBeUndefined()
  expect(resting.take(old)).toHaveLength(part(0.4).length)
  expect(resting.take(fresh)).toHaveLength(part(0.4).length)
  expect(resting.bytes).toBe(0)
})

test('the largest of the others goes first; one that is too large by itself rests alone', () => {
  const resting = new SuspendedPrograms()
  const [small, large] = [resting.hold(part(0.2)), resting.hold(part(0.6))]
  const fresh = resting.hold(part(0.3))
  expect(large.memory).toBeUndefined()
  expect([small.memory, fresh.memory]).not.toContain(undefined)
  const huge = resting.hold(part(1.1))
  expect([small.memory, fresh.memory]).toEqual([undefined, undefined])
  expect(resting.take(huge)).toHaveLength(part(1.1).length)
})
