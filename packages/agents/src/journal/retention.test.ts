// What is dropped of the history, and that nothing of the state goes with it.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { Bench, call, configOf, coreImage } from '../agents.test-support.ts'
import { OLDEST_VERSION } from './schema.ts'

const DAY_MS = 86_400_000

async function work(b: Bench, id: string, turns: number, name = 'r1'): Promise<void> {
  let step = await b.prompt(id, 'go', name)
  for (let turn = 0; turn < turns; turn += 1)
    step = await b.model(id, step, `turn ${turn}`, [
      call('write_file', { path: `f${turn % 7}`, content: `${turn} `.repeat(500) }, `c${turn}`),
    ])
  await b.model(id, step, 'done')
}

test('a journal stays within its bytes; its state is whole and history says where it starts', async () => {
  const image = await coreImage()
  const kept = { ageMs: null, bytes: 150_000 }
  const b = new Bench(scratchDirectory(), image, kept)
  await b.create('a', configOf({ maxTurns: 1_000 }))
  for (let run = 1; run <= 3; run += 1) await work(b, 'a', 100, `r${run}`)
  const { agent } = b.operations.standing(null, 'a', 0)
  const bytes = b.stepper.journal.journalBytes(agent.key)
  // A checkpoint every 64 events, or 256 KiB, and never the newest few.
  expect(bytes).toBeLessThan(150_000 + 64 * 1_600)
  const start = b.operations.historyStart('me', 'a')
  expect(start).toBeGreaterThan(100)
  const [first] = b.operations.history('me', 'a', 1, null)
  expect(first?.seq).toBe(start)
  expect(() => b.operations.fork('me', 'a', { ids: ['past'], turn: 2, nowMs: b.now })).toThrow(
    /starts at event/,
  )
  const [fork] = b.operations.fork('me', 'a', {
    ids: ['now'],
    turn: agent.summary.turnCount,
    nowMs: b.now,
  })
  expect(fork?.summary.turnCount).toBe(agent.summary.turnCount)
  const live = b.stepper.residents.memory(agent)
  const result = b.operations.run('me', 'a', 'r3')?.result
  expect(result).toMatchObject({ response: 'done' })
  b.operations.close()
  const again = new Bench(b.directory, image, kept)
  expect(again.stepper.residents.memory(agent).equals(live)).toBe(true)
  await work(again, 'a', 3, 'r9')
  expect(again.ask('a', { ask: 'files' })).toHaveLength(7)
  again.operations.close()
})

test('old events of agents at rest go in a pause, and the agents go on', async () => {
  const image = await coreImage()
  const b = new Bench(scratchDirectory(), image, { ageMs: 30 * DAY_MS, bytes: 1e9 })
  await b.create('a')
  await b.create('small')
  await work(b, 'a', 20)
  b.operations.close()
  const later = new Bench(b.directory, image, { ageMs: 30 * DAY_MS, bytes: 1e9 })
  const { agent } = later.operations.standing(null, 'a', 0)
  while (later.stepper.tidy(b.now + 29 * DAY_MS));
  expect(later.operations.historyStart('me', 'a')).toBe(1)
  while (later.stepper.tidy(b.now + 60 * DAY_MS));
  expect(later.operations.historyStart('me', 'a')).toBe(agent.seq + 1)
  expect(later.operations.history('me', 'a', 1, null)).toEqual([])
  // Without a checkpoint there is nothing to drop behind.
  expect(later.operations.historyStart('me', 'small')).toBe(1)
  expect(later.ask('a', { ask: 'files' })).toHaveLength(7)
  await work(later, 'a', 2, 'r2')
  const from = later.operations.historyStart('me', 'a')
  expect(later.operations.history('me', 'a', from, null).at(0)?.seq).toBe(agent.seq + 1)
  later.operations.close()
})

test('a store of the oldest version comes to the newest with its agents', async () => {
  const image = await coreImage()
  const first = new Bench(scratchDirectory(), image)
  await first.create('a')
  await first.create('b')
  await work(first, 'a', 3)
  first.operations.fork('me', 'a', { ids: ['c'], turn: null, nowMs: first.now })
  const { agent } = first.operations.standing(null, 'a', 0)
  first.operations.close()
  // As the oldest version had it that was in use.
  const file = join(first.directory, 'agents.db')
  const database = new DatabaseSync(file)
  database.exec(`DROP TABLE model_usage;
    DROP TABLE schedules;
    DROP INDEX families_removed;
    DROP INDEX families_labelled;
    ALTER TABLE families DROP COLUMN removed_at;
    ALTER TABLE families DROP COLUMN labels;
    ALTER TABLE agents DROP COLUMN price;
    ALTER TABLE agents DROP COLUMN paused_at;
    PRAGMA user_version = ${OLDEST_VERSION}`)
  database.close()
  const now = new Bench(first.directory, image)
  expect(now.operations.standing(null, 'a', 0)).toMatchObject({ agent, family: { members: 2 } })
  expect(now.ask('c', { ask: 'files' })).toHaveLength(3)
  expect(now.stepper.journal.journalBytes(agent.key)).toBeGreaterThan(1_000)
  // What was used before has no time; what is used from now on has.
  const ever = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER }
  expect(now.operations.modelUsage([ever])).toEqual({
    startedMs: expect.any(Number),
    ranges: [[]],
  })
  await work(now, 'c', 1, 'r5')
  expect(now.operations.modelUsage([ever]).ranges).toMatchObject([
    [{ modelCalls: 2, inputTokens: 20, outputTokens: 10, costMicros: 0 }],
  ])
  now.operations.remove('me', 'a')
  expect(now.ask('c', { ask: 'files' })).toHaveLength(3)
  now.operations.close()
})
