// The journal of an agent run again: the same to the byte, or the event that differs is named.

import { expect, test } from 'vitest'
import { bench, call } from '../agents.test-support.ts'
import { runWhole } from '../shared/sliced.ts'

async function worked() {
  const made = await bench()
  await made.create('a')
  let step = await made.prompt('a', 'begin', 'r1')
  for (let turn = 1; turn <= 6; turn += 1)
    step = await made.model('a', step, '', [
      call('write_file', { path: `f${turn}.txt`, content: 'é'.repeat(turn * 100) }),
      call('write_todos', { todos: [`turn ${turn}`] }),
    ])
  await made.model('a', step, 'done')
  const replay = (id: string, turn: number | null = null) =>
    runWhole(made.operations.replay('me', id, turn))
  return { made, replay, journal: made.stepper.journal }
}

test('a journal replays to the same memory, whole, up to a turn, and of a fork', async () => {
  const { made, replay } = await worked()
  const { agent } = made.operations.standing('me', 'a', 0)
  expect(replay('a')).toMatchObject({ from: 1, to: agent.seq, turn: 7, difference: null })
  expect(replay('a').memories).toBeGreaterThan(0)
  expect(replay('a').memoryDigest).toBe(replay('a').memoryDigest)
  expect(replay('a', 3)).toMatchObject({ turn: 3, difference: null })
  made.operations.fork('me', 'a', { ids: ['b'], turn: 2, nowMs: made.now })
  await made.model('b', await made.prompt('b', 'go on', 'r2'), 'went on')
  expect(replay('b')).toMatchObject({ from: 1, to: 3, turn: 3, difference: null })
  expect(() => replay('a', 99)).toThrow(/has no turn 99/)
  expect(() => runWhole(made.operations.replay('you', 'a', null))).toThrow(/no agent/)
  // Nothing of the agent has changed by it.
  expect(made.operations.standing('me', 'a', 0).agent.seq).toBe(agent.seq)
})

test('what was changed, lost or made up in the journal is named with its event', async () => {
  const { replay, journal } = await worked()
  const [row] = journal.all("SELECT seq, event FROM events WHERE kind = 'model' LIMIT 1 OFFSET 2")
  const ofAgent = `agent = ${journal.agent('a')?.key}`
  const { seq, event } = row as { seq: number; event: string }
  const set = `UPDATE events SET event = $1 WHERE ${ofAgent} AND seq = $2`
  journal.run(set, event.replaceAll('f3.txt', 'g3.txt'), seq)
  expect(replay('a')).toMatchObject({
    memoryDigest: null,
    difference: { seq, kind: 'model', turn: 3, what: 'answer' },
  })
  journal.run(set, '{"kind":', seq)
  expect(replay('a').difference).toMatchObject({ seq, what: 'failed' })
  journal.run(set, event, seq)
  expect(replay('a').difference).toBeNull()
  const answer = `UPDATE events SET answer = zeroblob(16) WHERE ${ofAgent} AND seq = $1`
  journal.run(answer, seq + 1)
  expect(replay('a').difference).toMatchObject({ seq: seq + 1, what: 'answer' })
  journal.run(`DELETE FROM events WHERE ${ofAgent} AND seq = $1`, seq)
  expect(replay('a').difference).toMatchObject({ seq, what: 'missing' })
})
