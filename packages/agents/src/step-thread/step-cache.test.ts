import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { configOf, coreImage } from '../agents.test-support.ts'
import type { JournalEvent, PortableAgent } from '../guest/protocol.ts'
import { startStepThread } from './step-client.ts'

const path = fc.constantFrom('a.txt', 'b/c.txt', './a.txt', 'z')
const direct = (name: string, input: object) => ({ kind: 'direct', name, input })
const file = fc.record({ path, text: fc.string({ maxLength: 20 }) })
const event = fc.oneof(
  fc
    .tuple(path, fc.string({ maxLength: 20 }))
    .map(([where, content]) => direct('write_file', { path: where, content })),
  path.map((where) => direct('delete_file', { path: where })),
  fc
    .array(fc.constantFrom('one', 'two', 'three'), { maxLength: 3 })
    .map((todos) => direct('write_todos', { todos })),
  fc.constantFrom('t1', 't2', 't3').map((id) => direct('update_todo', { id, status: 'completed' })),
  fc.boolean().map((keepFiles) => ({ kind: 'reset', keepFiles })),
  fc.record({ code: fc.array(file, { maxLength: 3 }), remove: fc.array(path, { maxLength: 2 }) }),
  fc.constant({ kind: 'tick' }),
)

test('todos that are followed from step to step, and files, are what the guest says', async () => {
  const image = await coreImage()
  const started = startStepThread({ place: scratchDirectory(), image: image.bytes }, 1)
  onTestFinished(() => started.close())
  const { steps } = started
  const config = configOf({ maxTurns: 1_000, filesMax: 3 })
  let agents = 0
  let now = 1
  const make = async (id: string) => {
    const beside = { owner: 'me', depth: 0, image: image.hash, asked: {}, grants: [] }
    await steps.create(beside, { kind: 'create', at: 5, id, seed: 's', config, files: [] })
  }
  /** The same as the guest has it: these two questions are not answered from the cache. */
  const guest = async (id: string) => {
    const { value } = await steps.ask('me', id, { ask: 'portable' }, now)
    const { value: files } = await steps.ask('me', id, { ask: 'files', glob: '**' }, now)
    return { todos: (value as PortableAgent).todos, files }
  }
  const known = async (id: string) => {
    const { value: todos, agent } = await steps.ask('me', id, { ask: 'todos' }, now)
    const { value: files } = await steps.ask('me', id, { ask: 'files' }, now)
    return { todos, files, seq: agent.seq }
  }
  const apply = async (id: string, each: object) => {
    now += 1
    if ('kind' in each) return steps.apply('me', id, { at: now, ...each } as JournalEvent)
    const { code, remove } = each as { code: object[]; remove: string[] }
    const { step } = await steps.apply('me', id, {
      kind: 'direct',
      at: now,
      name: 'run_code',
      input: { code: '1' },
    })
    const effectId = step.effects[0]?.id ?? ''
    const ended = { kind: 'code', at: now, effectId, content: '', isError: false } as const
    return steps.apply('me', id, { ...ended, write: code as never, remove })
  }
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 12 }), async (events) => {
      const id = `a${agents++}`
      await make(id)
      for (const each of events) {
        const applied = await apply(id, each).catch(() => undefined)
        const { seq, ...lists } = await known(id)
        expect(lists).toEqual(await guest(id))
        if (applied !== undefined) expect(seq).toBe(applied.agent.seq)
      }
    }),
    { numRuns: 12 },
  )
})
