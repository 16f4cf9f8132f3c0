import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { configOf, coreImage } from '../agents.test-support.ts'
import type { JournalEvent } from '../guest/protocol.ts'
import type { CreateEvent } from '../journal/new-rows.ts'
import { packFiles } from '../transfer/pack-files.ts'
import { type Steps, startStepThread } from './step-client.ts'

async function start(directory: string) {
  const image = await coreImage()
  const thread = startStepThread({ place: directory, image: image.bytes }, 1)
  onTestFinished(() => thread.close())
  return { ...thread, image: image.hash }
}

test('the operations run in a thread, and what they did is there after a restart', async () => {
  const directory = scratchDirectory()
  const { steps, image, close, nonce } = await start(directory)
  const config = configOf()
  const beside = { owner: 'me', depth: 0, image, asked: { x: 1 }, grants: [] }
  const event: CreateEvent = { kind: 'create', at: 5, id: 'a', seed: 's', config, files: [] }
  const { agent } = await steps.create(beside, event)
  expect(agent).toMatchObject({ id: 'a', state: 'idle', asked: { x: 1 } })
  const input = { path: 'x.txt', content: 'hello' }
  const direct: JournalEvent = { kind: 'direct', at: 6, name: 'write_file', input }
  await steps.apply('me', 'a', direct, undefined, nonce())
  await expect(steps.standing('other', 'a', 7)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  await close()
  const again = await start(directory)
  const read = await again.steps.ask('me', 'a', { ask: 'read', path: './x.txt' }, 8)
  expect(Buffer.from(read.content ?? []).toString()).toBe('hello')
})

test('what crosses the thread is what is in the rows', async () => {
  const { steps, image } = await start(scratchDirectory())
  const config = configOf()
  const { limits } = config
  const make = async (id: string, family?: number) => {
    const beside = { owner: 'me', depth: 0, image, asked: { x: 1 }, grants: [] }
    const event: CreateEvent = { kind: 'create', at: 5, id, seed: 's', config, files: [] }
    return steps.create(family === undefined ? beside : { ...beside, family }, event)
  }
  const rows = () => steps.list('me', null, 0, 100)
  const first = await make('a')
  expect(first.family).toMatchObject({ members: 1, turns: 0, limits })
  expect((await make('b')).agent.family).not.toBe(first.agent.family)
  const child = await make('c', first.agent.family)
  expect(child).toMatchObject({ runStartedAt: null, family: { members: 2 } })
  const input = { path: 'x.txt', content: 'hello' }
  const written = await steps.apply('me', 'c', { kind: 'direct', at: 6, name: 'write_file', input })
  expect(written.agent.summary.fileCount).toBe(1)
  const forks = await steps.fork('me', 'c', {
    ids: ['d', 'e'],
    turn: null,
    nowMs: 7,
    name: 'two ways',
  })
  const [a, , c, d, e] = await rows()
  expect([first.agent, written.agent, ...forks]).toEqual([a, c, d, e])
  expect(d?.asked).toMatchObject({ forkOf: { id: 'c', turn: 0 }, name: 'two ways' })
  // The name is that of the fork; a fork of it has its own, or none.
  const [unnamed] = await steps.fork('me', 'd', { ids: ['g'], turn: null, nowMs: 8 })
  expect(unnamed?.asked).toMatchObject({ forkOf: { id: 'd' } })
  expect(unnamed?.asked).not.toHaveProperty('name')
  await expect(make('f', 999)).rejects.toMatchObject({ code: 'AGENT_DAMAGED' })
  expect(await rows()).toHaveLength(6)
})

const MIB = 1_048_576

function createWith(steps: Steps, image: string, owner: string, id: string, texts: string[]) {
  const beside = { owner, depth: 0, image, asked: {}, grants: [] }
  const { files } = packFiles(texts.map((content, at) => ({ path: `f${at}.txt`, content })))
  const event: CreateEvent = { kind: 'create', at: 5, id, seed: id, config: configOf(), files }
  return steps.create(beside, event)
}

test('an owner with twenty agents at work has one turn, and another owner is the next', async () => {
  const { steps, image } = await start(scratchDirectory())
  const busy = Array.from({ length: 20 }, (_, at) => `busy${at}`)
  for (const id of busy) await createWith(steps, image, 'many', id, ['text'])
  await createWith(steps, image, 'one', 'single', ['text'])
  const done: string[] = []
  const note = (name: string) => () => void done.push(name)
  // By the agent alone, as the gate asks for a program; and by the owner, as a client does.
  const programs = busy.map((id) => steps.programFiles(id, 6).then(note('many')))
  const grep = { kind: 'direct', at: 6, name: 'grep', input: { pattern: 'x' } } as const
  const greps = busy.map((id) => steps.apply('many', id, grep).then(note('many')))
  const other = steps.apply('one', 'single', grep).then(note('one'))
  const files = steps.programFiles('single', 6).then(note('one'))
  await Promise.all([...programs, ...greps, other, files])
  expect(done).toHaveLength(42)
  // What was in the thread already goes first: one of each kind, and the turns between.
  expect(done.lastIndexOf('one')).toBeLessThan(12)
})

test('an export is taken in slices, between which another owner is answered', async () => {
  const { steps, image } = await start(scratchDirectory())
  const texts = Array.from({ length: 7 }, () => 'a'.repeat(MIB - 16))
  await createWith(steps, image, 'many', 'large', texts)
  await createWith(steps, image, 'one', 'single', ['text'])
  let isTaken = false
  const taken = steps.takeExport('many', 'large', 6, false).then((pieces) => {
    isTaken = true
    return pieces
  })
  const before: boolean[] = []
  const tool = { kind: 'direct', at: 6, name: 'list_files', input: {} } as const
  for (let at = 0; at < 3; at++) {
    await steps.apply('one', 'single', tool)
    before.push(isTaken)
  }
  expect(before[0]).toBe(false)
  // It is the agent as it was when the export began.
  const input = { path: 'f0.txt', content: 'later' }
  await steps.apply('many', 'large', { kind: 'direct', at: 7, name: 'write_file', input })
  const { taken: facts, bytes } = await taken
  expect(bytes).toHaveLength(7 * (MIB - 16))
  expect(facts.files).toHaveLength(7)
})
