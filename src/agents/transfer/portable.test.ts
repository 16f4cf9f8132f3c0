import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bench, bench, call, configOf } from '../agents.test-support.ts'
import type { ImportOptions } from './bring-import.ts'
import { privateKey, publicHex, writeBundle } from './bundle.ts'
import type { Exported } from './portable.ts'

const KEY = privateKey(randomBytes(32))
const FORGER = privateKey(randomBytes(32))
const GITHUB_TOKEN = `ghp_${'a1B2'.repeat(9)}`

function exportOf(b: Bench, id: string, secrets: 'redact' | 'keep' = 'redact', withMemory = false) {
  const options = { secrets, nowMs: b.now, installation: 'here' }
  return b.operations.export('me', id, options, withMemory)
}

function options(b: Bench, id: string, more: Partial<ImportOptions> = {}): ImportOptions {
  const own = { id, owner: 'me', nowMs: b.now, installation: 'here', trusted: [publicHex(KEY)] }
  return { ...own, tools: [], price: null, ...more }
}

function bundleOf(b: Bench, id: string, key = KEY): Buffer {
  const { exported, memory } = exportOf(b, id, 'keep', true)
  return writeBundle(JSON.stringify(exported), memory ?? Buffer.alloc(0), key)
}

async function worked(): Promise<Bench> {
  const b = await bench()
  const binary = { path: 'bin', bytes: [0, 4] }
  const config = configOf({ maxTurns: 9 })
  const fresh = {
    id: 'a',
    owner: 'me',
    depth: 0,
    image: b.stepper.image.hash,
    createdAt: 1,
    asked: {},
  }
  const row = {
    ...fresh,
    model: config.model,
    template: null,
    grants: [],
    limits: config.limits,
    price: null,
  }
  const event = { kind: 'create', at: 1, id: 'a', seed: 'a', config, files: [binary] } as never
  b.operations.create(row, event, Uint8Array.of(0, 255, 254, 1))
  const step = b.model('a', b.prompt('a', 'begin'), '', [
    call('write_file', { path: 'note.txt', content: `token ${GITHUB_TOKEN} é` }),
    call('write_todos', { todos: ['first', { content: 'second', status: 'completed' }] }),
  ])
  b.model('a', step, 'all done')
  return b
}

/** What must be the same in two exports of the same agent. */
function essence({ agentState, todos, files }: Exported): unknown {
  return { agentState, todos, files }
}

describe('export and import', () => {
  test('JSON: everything comes back, under a new id, with its turns used', async () => {
    const b = await worked()
    const { exported } = exportOf(b, 'a', 'keep')
    const { agent, restored } = b.operations.import(JSON.stringify(exported), options(b, 'n'))
    expect(restored).toBe('json')
    expect(agent.summary).toMatchObject({ turnCount: 2, fileCount: 2, state: 'idle' })
    expect(essence(exportOf(b, 'n', 'keep').exported)).toEqual(essence(exported))
    expect(b.prompt('n', 'go on').summary.state).toBe('running')
  })

  test('secrets are listed and replaced unless they are to be kept', async () => {
    const b = await worked()
    const { exported } = exportOf(b, 'a')
    expect(JSON.stringify(exported)).not.toContain(GITHUB_TOKEN)
    expect(exported.secrets).toContainEqual({
      kind: 'github-token',
      where: 'file note.txt',
      count: 1,
    })
    expect(JSON.stringify(exportOf(b, 'a', 'keep').exported)).toContain(GITHUB_TOKEN)
  })

  test('a changed export is refused by its digest, and nothing is there after it', async () => {
    const b = await worked()
    const { exported } = exportOf(b, 'a')
    const lie = { ...exported, agentState: { ...exported.agentState, turn_count: 0 } }
    expect(() => b.operations.import(JSON.stringify(lie), options(b, 'n'))).toThrow(/digest/)
    expect(() => b.operations.standing(null, 'n', 0)).toThrow(/no agent/)
  })

  test('bundle: the exact memory, where the signer is trusted', async () => {
    const b = await worked()
    const { agent, restored } = b.operations.import(bundleOf(b, 'a'), options(b, 'n'))
    expect(restored).toBe('memory')
    expect(agent.summary.turnCount).toBe(2)
    expect(essence(exportOf(b, 'n', 'keep').exported)).toEqual(
      essence(exportOf(b, 'a', 'keep').exported),
    )
    const base64 = bundleOf(b, 'a').toString('base64')
    expect(b.operations.import(base64, options(b, 'm')).restored).toBe('memory')
  })

  test('bundle of a stranger: the JSON part only, and it says so', async () => {
    const b = await worked()
    const { agent, restored } = b.operations.import(bundleOf(b, 'a', FORGER), options(b, 'n'))
    expect(restored).toBe('json')
    expect(agent.summary.turnCount).toBe(2)
  })

  test('an import grants no tool its new owner does not have', async () => {
    const b = await bench()
    const tool = { name: 's__t', server: 's', tool: 't', description: '', inputSchema: {} }
    b.create('a', configOf({}, { tools: [tool] }))
    const { exported } = exportOf(b, 'a')
    const text = JSON.stringify(exported)
    b.operations.import(text, options(b, 'none'))
    b.operations.import(text, options(b, 'same', { tools: [tool] }))
    const names = (id: string) =>
      b.ask<{ name: string }[]>(id, { ask: 'tools' }).map(({ name }) => name)
    expect(names('none')).not.toContain('s__t')
    expect(names('same')).toContain('s__t')
  })

  test('imports count against the family they came from', async () => {
    const b = await bench()
    b.create('a', configOf({ maxTurns: 3 }))
    b.model('a', b.prompt('a'), 'one')
    const text = JSON.stringify(exportOf(b, 'a').exported)
    b.operations.import(text, options(b, 'x'))
    b.operations.import(text, options(b, 'y'))
    b.model('x', b.prompt('x'), 'two')
    b.model('y', b.prompt('y'), 'three')
    expect(() => b.prompt('x')).toThrow(/stopped/)
    const away = b.operations.import(text, options(b, 'z', { installation: 'elsewhere' }))
    expect(b.stepper.journal.family(away.agent.family).turns).toBe(1)
  })

  test('corrupt bundles: 1,000 mutations, no crash, no partial import', {
    timeout: 180_000,
  }, async () => {
    const b = await worked()
    const whole = bundleOf(b, 'a')
    const text = Buffer.from(JSON.stringify(exportOf(b, 'a').exported))
    const before = b.operations.list('me', null, 0, 100).length
    let taken = 0
    const mutate = (bytes: Buffer) =>
      fc.property(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.option(fc.nat(bytes.length - 1), { freq: 5 }),
        (changes, cut) => {
          const bad = Buffer.from(bytes)
          for (const [at, value] of changes) bad[at] = value
          const given = cut === null ? bad : bad.subarray(0, cut)
          if (given.equals(bytes)) return
          try {
            b.operations.import(given, options(b, `m${taken}`))
            taken += 1
          } catch (error) {
            expect((error as { code?: string }).code).toMatch(/^AGENT_/)
          }
        },
      )
    fc.assert(mutate(whole), { numRuns: 500 })
    fc.assert(mutate(text), { numRuns: 500 })
    expect(taken).toBe(0)
    expect(b.operations.list('me', null, 0, 100)).toHaveLength(before)
    expect(essence(exportOf(b, 'a').exported)).toEqual(essence(JSON.parse(text.toString())))
  })
})
