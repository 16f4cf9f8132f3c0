import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../test/scratch.ts'
import type { Event } from '../../guest/words.ts'
import { configOf, coreImage } from '../agents.test-support.ts'
import type { CreateEvent } from '../journal/new-rows.ts'
import { startStepThread } from './step-client.ts'

async function start(directory: string) {
  const image = await coreImage()
  const thread = startStepThread({ directory, image: image.bytes }, 1)
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
  const direct: Event = { kind: 'direct', at: 6, name: 'write_file', input }
  await steps.apply('me', 'a', direct, undefined, nonce())
  await expect(steps.standing('other', 'a', 7)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  await close()
  const again = await start(directory)
  const read = await again.steps.ask('me', 'a', { ask: 'read', path: './x.txt' }, 8)
  expect(Buffer.from(read.content ?? []).toString()).toBe('hello')
})

test('what crosses the thread in short is what is in the rows', async () => {
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
  const forks = await steps.fork('me', 'c', ['d', 'e'], null, 7)
  const [a, , c, d, e] = await rows()
  expect([first.agent, written.agent, ...forks]).toEqual([a, c, d, e])
  await expect(make('f', 999)).rejects.toMatchObject({ code: 'AGENT_DAMAGED' })
  expect(await rows()).toHaveLength(5)
})
