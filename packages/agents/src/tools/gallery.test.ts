import { expect, test } from 'vitest'
import { bench } from '../agents.test-support.ts'
import { TEMPLATES_LENGTH_MAX, TEMPLATES_MAX } from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { Gallery } from './gallery.ts'

const LONG = 'Read the notes, then say what is left to do. '.repeat(2_200)

async function open() {
  const { operations } = await bench()
  return { operations, gallery: new Gallery(operations as unknown as Steps) }
}

test('all templates of an owner are bounded together: each use of one reads them all', async () => {
  const { operations, gallery } = await open()
  const template = (id: number) => ({ id: `t${id}`, name: 'T', instructions: LONG })
  const many = Array.from({ length: 60 }, (_, id) => template(id))
  const { importedCount, rejected } = await gallery.import('me', JSON.stringify(many))
  expect(importedCount).toBeGreaterThan(30)
  expect(rejected.length).toBe(60 - importedCount)
  expect(rejected[0]?.reason).toContain('all templates together')
  const kept = operations.templates('me').reduce((sum, text) => sum + text.length, 0)
  expect(kept).toBeLessThanOrEqual(TEMPLATES_LENGTH_MAX)
  // One that is there can be replaced, and another owner has room.
  await gallery.add('me', template(0))
  await gallery.add('other', template(0))
})

test('a template is added without reading the others, and their number is bounded', async () => {
  const { operations, gallery } = await open()
  for (let id = 1; id < TEMPLATES_MAX; id += 1) operations.putTemplate('me', `t${id}`, 'no JSON')
  const add = (id: string) => gallery.add('me', { id, name: 'T', instructions: 'x' })
  await add('last')
  await expect(add('more')).rejects.toMatchObject({ code: 'AGENT_LIMIT' })
  await add('last')
})
