import { expect, test } from 'vitest'
import { ReplayStore } from './replay.ts'

test('the oldest events go first; a stream that has lost all of them keeps what comes later', () => {
  const store = new ReplayStore(30)
  const [one, other] = [store.open(), store.open()]
  for (let n = 0; n < 3; n++) one.add('x'.repeat(10))
  other.add('y'.repeat(20))
  expect([one.after(0), one.after(2), other.after(0)]).toEqual([
    undefined,
    ['x'.repeat(10)],
    ['y'.repeat(20)],
  ])
  other.add('z'.repeat(10))
  expect([one.after(2), one.after(3), other.after(0)?.length]).toEqual([undefined, [], 2])
  one.add('w'.repeat(10))
  expect([one.after(3), other.after(1)]).toEqual([['w'.repeat(10)], ['z'.repeat(10)]])
  one.release()
  other.add('v'.repeat(20))
  expect(other.after(1)).toEqual(['z'.repeat(10), 'v'.repeat(20)])
})

test('finding: an event does not pass every stream that has lost its events', () => {
  const store = new ReplayStore(10)
  const streams = Array.from({ length: 500 }, () => store.open())
  let drops = 0
  for (const stream of streams) {
    const drop = stream.dropOldest.bind(stream)
    stream.dropOldest = () => {
      drops++
      return drop()
    }
    stream.add('x'.repeat(10))
  }
  expect(drops).toBeLessThan(3 * streams.length)
})
