// Fair queue: bounded concurrency, and an owner with much work delays no other.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { FairQueue } from './fair-queue.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a thousand of one owner, then one of another: it is the next', async () => {
  const turns = new FairQueue(2)
  const done: string[] = []
  const ends: (() => void)[] = []
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      done.push(name)
      ends.push(resolve)
    })
  const all = Array.from({ length: 1_000 }, (_, at) => turns.run('many', work(`many ${at}`)))
  all.push(turns.run('one', work('one')))
  await turn()
  expect(done).toEqual(['many 0', 'many 1'])
  ends.shift()?.()
  await turn()
  ends.shift()?.()
  await turn()
  expect(done.slice(2)).toEqual(['one', 'many 2'])
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end()
    await turn()
  }
  await Promise.all(all)
  expect(done).toHaveLength(1_001)
})

test('never exceeds the concurrency limit, completes all, and a failure frees its slot', async () => {
  const job = fc.record({ whose: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.array(job, { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (jobs, most) => {
        const turns = new FairQueue(most)
        let now = 0
        const ran = await Promise.allSettled(
          jobs.map(({ whose, fails }) =>
            turns.run(whose, async () => {
              now += 1
              expect(now).toBeLessThanOrEqual(most)
              await Promise.resolve()
              now -= 1
              if (fails) throw new Error('no')
            }),
          ),
        )
        expect(ran.map(({ status }) => status)).toEqual(
          jobs.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
        )
        expect(await turns.run('after', async () => 'yes')).toBe('yes')
      },
    ),
    runs(100),
  )
})

test('work that goes on comes before what its owner began later, and an owner has so much at once', async () => {
  const turns = new FairQueue(1)
  const sliced = new FairQueue(2, 1)
  const done: string[] = []
  const sliceOf = (name: string, at: number) => async () => {
    await turn()
    done.push(`${name} ${at}`)
  }
  const inSlices = (whose: string, name: string) =>
    sliced.run(whose, async () => {
      for (let at = 0; at < 3; at++) await turns.run(whose, sliceOf(name, at), at > 0)
    })
  const all = [inSlices('many', 'first'), inSlices('many', 'second')]
  for (let at = 0; at < 20; at++) all.push(turns.run('many', sliceOf('short', at)))
  all.push(inSlices('one', 'other'))
  await Promise.all(all)
  expect(done).toHaveLength(29)
  expect(done.indexOf('first 2')).toBeLessThan(6)
  expect(done.indexOf('other 2')).toBeLessThan(8)
  expect(done.indexOf('second 0')).toBeGreaterThan(done.indexOf('first 2'))
})
