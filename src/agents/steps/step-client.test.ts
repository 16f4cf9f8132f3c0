import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../test/scratch.ts'
import type { Event } from '../../guest/words.ts'
import { configOf, coreImage } from '../agents.test-support.ts'
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
  const fresh = { id: 'a', owner: 'me', depth: 0, image, createdAt: 5, asked: { x: 1 } }
  const row = {
    ...fresh,
    model: 'm',
    template: null,
    grants: [],
    limits: config.limits,
    price: null,
  }
  const event: Event = { kind: 'create', at: 5, id: 'a', seed: 's', config, files: [] }
  const { agent } = await steps.create(row, event)
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
