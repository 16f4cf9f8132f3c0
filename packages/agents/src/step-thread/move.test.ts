// An upgrade: two cores that differ, a store filled by the first, the story goes on with the second.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { Bench, call, configOf, coreImage } from '../agents.test-support.ts'
import { bakeImage } from '../sandbox/bake-image.ts'
import { openImage } from '../sandbox/image.ts'
import { bundleGuest } from '../sandbox/load-image.ts'
import { Service } from '../service/service.ts'
import { packFiles } from '../transfer/pack-files.ts'

/** The same core with something more in it: other addresses, another hash. */
async function otherImage() {
  const core = await bundleGuest(join(import.meta.dirname, '../guest/main.ts'))
  return openImage(bakeImage(`globalThis.__older = 'x'.repeat(5000);${core}`))
}

test('an agent of the core before pauses still runs, pauses and resumes on that core', async () => {
  const directory = scratchDirectory()
  const text = join(import.meta.dirname, '../../../../test/cases/agent-core-2026-11-15.txt')
  const older = openImage(bakeImage(readFileSync(text, 'utf8')))
  const first = new Bench(directory, older)
  await first.create('a')
  const begun = await first.prompt('a', 'begin', 'r1')
  first.operations.close()

  const second = new Bench(directory, await coreImage())
  await second.send('a', { kind: 'pause', reason: 'later' })
  expect(second.operations.standing(null, 'a', 0).agent).toMatchObject({
    state: 'paused',
    image: older.hash,
  })
  const step = await second.model('a', begun, '', [call('write_todos', { todos: ['one'] })])
  second.operations.close()

  const third = new Bench(directory, await coreImage())
  await third.send('a', { kind: 'resume', limits: {}, runId: 'r2' })
  expect(third.operations.standing(null, 'a', 0).agent.state).toBe('running')
  expect((await third.model('a', step, 'done')).ended).toMatchObject([
    { runId: 'r1', response: 'done' },
  ])
  expect(third.ask('a', { ask: 'todos' })).toHaveLength(1)
  expect(third.move('a').image).not.toBe(older.hash)
  expect(third.ask('a', { ask: 'todos' })).toHaveLength(1)
  third.operations.close()
})

test('an idle agent of an older core moves at its next prompt, and nothing is lost', async () => {
  const directory = scratchDirectory()
  const [older, newer] = [await otherImage(), await coreImage()]
  expect(older.hash).not.toBe(newer.hash)

  const first = new Bench(directory, older)
  await first.create('a')
  await first.create('busy')
  let step = await first.prompt('a', 'begin', 'r1')
  step = await first.model('a', step, '', [
    call('write_file', { path: 'kept.txt', content: 'é'.repeat(500) }),
    call('write_todos', { todos: ['one', 'two'] }),
  ])
  await first.model('a', step, 'done')
  const busy = await first.prompt('busy', 'still going', 'r2')
  const before = first.export('a', 'keep').exported
  first.operations.close()

  const second = new Bench(directory, newer)
  // Woken as it was, with the core it was made with.
  expect(second.ask('a', { ask: 'todos' })).toHaveLength(2)
  const ended = await second.model('busy', busy, 'finished on the old core')
  expect(ended.ended).toMatchObject([{ response: 'finished on the old core' }])
  expect(second.operations.standing(null, 'busy', 0).agent.image).toBe(older.hash)

  const prompted = await second.prompt('a', 'go on', 'r3')
  const { agent } = second.operations.standing(null, 'a', 0)
  expect(agent.image).toBe(newer.hash)
  expect((await second.model('a', prompted, 'went on')).summary).toMatchObject({
    turnCount: 3,
    fileCount: 1,
  })
  const after = second.export('a', 'keep').exported
  expect(after.files).toEqual(before.files)
  expect(after.todos).toEqual(before.todos)
  expect(after.agentState.messages.slice(0, before.agentState.messages.length)).toEqual(
    before.agentState.messages,
  )
  const history = second.operations.history('me', 'a', 1, null)
  expect(history.map(({ kind }) => kind)).toContain('moved')

  // What was before the move can still be gone back to, on the old core.
  const [fork] = second.operations.fork('me', 'a', { ids: ['past'], turn: 1, nowMs: second.now })
  expect(fork).toMatchObject({ image: older.hash, summary: { turnCount: 1, fileCount: 1 } })
  expect(second.move('past').image).toBe(newer.hash)
  second.operations.close()

  const third = new Bench(directory, newer)
  expect(third.ask('a', { ask: 'files' })).toHaveLength(1)
  third.operations.close()
})

test('the service moves an agent through the transfer thread before its prompt', async () => {
  const directory = scratchDirectory()
  const first = new Bench(directory, await otherImage())
  const loose = [
    { path: 'a.txt', content: 'é'.repeat(500) },
    { path: 'b.bin', content: new Uint8Array([0, 255, 254]) },
  ]
  const { files, bytes } = packFiles(loose)
  await first.create('a', configOf(), 'me', files, bytes)
  const { agentState, files: before } = first.export('a', 'keep').exported
  first.operations.close()
  const scripts = join(directory, 'scripts')
  mkdirSync(scripts)
  const turns = Array.from({ length: 2 }, () => ({ text: 'went on' }))
  writeFileSync(join(scripts, 'test.json'), JSON.stringify({ turns }))
  const models = { environment: {}, providers: {}, scripts, prices: {} }
  const service = await Service.start({ directory, models })
  try {
    const { image } = (await service.steps.standing('me', 'a', 0)).agent
    // Two at once: one of them moves it.
    const prompts = ['one', 'two'].map((input) => service.prompt('me', 'a', { input }))
    for (const each of await Promise.all(prompts))
      expect(each).toMatchObject({ state: 'ended', response: 'went on' })
    expect((await service.steps.standing('me', 'a', 0)).agent.image).not.toBe(image)
    const { exported } = await service.export('me', 'a', 'json', 'keep')
    expect(exported.files).toEqual(before)
    expect(exported.agentState.config).toEqual(agentState.config)
    const moves = (await service.steps.history('me', 'a', 1, null)).filter(
      ({ kind }) => kind === 'moved',
    )
    expect(moves).toHaveLength(1)
  } finally {
    await service.close()
  }
})
