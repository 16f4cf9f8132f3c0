import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { type Bench, bench, call, configOf } from '../agents.test-support.ts'
import { IMPORT_ELEMENTS_MAX, IMPORT_JSON_BYTES_MAX } from '../shared/limits.ts'
import { runWhole } from '../shared/sliced.ts'
import { privateKey, publicHex, writeBundle } from './bundle.ts'
import type { AgentImportOptions } from './import-agent.ts'
import { packFiles } from './pack-files.ts'
import { type AgentExport, writeExport } from './portable.ts'
import { readImport } from './read-import.ts'
import { Redactor } from './secrets.ts'

const KEY = privateKey(randomBytes(32))
const FORGER = privateKey(randomBytes(32))
const GITHUB_TOKEN = `ghp_${'a1B2'.repeat(9)}`

function options(b: Bench, id: string, more: Partial<AgentImportOptions> = {}): AgentImportOptions {
  const own = { id, owner: 'me', nowMs: b.now, installation: 'here', trusted: [publicHex(KEY)] }
  return { ...own, tools: [], prices: {}, ...more }
}

function bundleOf(b: Bench, id: string, key = KEY): Buffer {
  const { exported, memory } = b.export(id, 'keep')
  return writeBundle(JSON.stringify(exported), memory, key)
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
  const step = await b.model('a', await b.prompt('a', 'begin'), '', [
    call('write_file', { path: 'note.txt', content: `token ${GITHUB_TOKEN} é` }),
    call('write_todos', { todos: ['first', { content: 'second', status: 'completed' }] }),
  ])
  await b.model('a', step, 'all done')
  return b
}

/** What must be the same in two exports of the same agent. */
function essence({ agentState, todos, files }: AgentExport): unknown {
  return { agentState, todos, files }
}

describe('export and import', () => {
  test('JSON: everything comes back, under a new id, with its turns used', async () => {
    const b = await worked()
    const { exported } = b.export('a', 'keep')
    const { agent, restored } = b.import(JSON.stringify(exported), options(b, 'n'))
    expect(restored).toBe('json')
    expect(agent.summary).toMatchObject({ turnCount: 2, fileCount: 2, state: 'idle' })
    expect(essence(b.export('n', 'keep').exported)).toEqual(essence(exported))
    expect((await b.prompt('n', 'go on')).summary.state).toBe('running')
  })

  test('secrets are listed and replaced unless they are to be kept', async () => {
    const b = await worked()
    const { exported } = b.export('a')
    expect(JSON.stringify(exported)).not.toContain(GITHUB_TOKEN)
    expect(exported.secrets).toContainEqual({
      kind: 'github-token',
      where: 'file note.txt',
      count: 1,
    })
    expect(JSON.stringify(b.export('a', 'keep').exported)).toContain(GITHUB_TOKEN)
  })

  test("F3: Sluice's own tokens do not leave with an export, as text or as UTF-16", async () => {
    const b = await bench()
    const tokens = [`sluice_${'0a'.repeat(32)}`, `sluice_link_${'aB3-_'.repeat(9)}`]
    await b.create('a', configOf({}, { instructions: `use ${tokens.join(' or ')}` }))
    await b.tool('a', 'write_file', { path: 'note.txt', content: tokens.join(' ') })
    await b.prompt('a', `first ${tokens.join(', ')}`)
    const text = JSON.stringify(b.export('a').exported)
    for (const token of tokens) {
      expect(text).not.toContain(token)
      const wide = new Redactor(false).bytes(Buffer.from(`x ${token}`, 'utf16le'), 'memory')
      expect(Buffer.from(wide).toString('utf16le')).not.toContain(token)
    }
  })

  test('a changed export is refused by its digest, and nothing is there after it', async () => {
    const b = await worked()
    const { exported } = b.export('a')
    const lie = { ...exported, agentState: { ...exported.agentState, turn_count: 0 } }
    expect(() => b.import(JSON.stringify(lie), options(b, 'n'))).toThrow(/digest/)
    expect(() => b.operations.standing(null, 'n', 0)).toThrow(/no agent/)
  })

  test('bundle: the exact memory, where the signer is trusted', async () => {
    const b = await worked()
    const { agent, restored } = b.import(bundleOf(b, 'a'), options(b, 'n'))
    expect(restored).toBe('memory')
    expect(agent.summary.turnCount).toBe(2)
    expect(essence(b.export('n', 'keep').exported)).toEqual(essence(b.export('a', 'keep').exported))
    const base64 = bundleOf(b, 'a').toString('base64')
    expect(b.import(base64, options(b, 'm')).restored).toBe('memory')
  })

  test('bundle of a stranger: the JSON part only, and it says so', async () => {
    const b = await worked()
    const { agent, restored } = b.import(bundleOf(b, 'a', FORGER), options(b, 'n'))
    expect(restored).toBe('json')
    expect(agent.summary.turnCount).toBe(2)
  })

  test('an import has no tool that nobody chose for it', async () => {
    const b = await bench()
    const tool = { name: 's__t', server: 's', tool: 't', description: '', inputSchema: {} }
    await b.create('a', configOf({}, { tools: [tool] }))
    const { exported } = b.export('a')
    const text = JSON.stringify(exported)
    const imports = {
      none: b.import(text, options(b, 'none')),
      same: b.import(text, options(b, 'same', { tools: [tool] })),
      other: b.import(text, options(b, 'other', { tools: [tool], owner: 'other' })),
      chosen: b.import(
        text,
        options(b, 'chosen', { tools: [tool], owner: 'other', chosen: ['s/t'] }),
      ),
    }
    const granted = Object.values(imports).map(({ agent }) => agent.grants)
    expect(granted).toEqual([[], ['s/t'], [], ['s/t']])
    expect(Object.values(imports).map(({ notGranted }) => notGranted.length)).toEqual([1, 0, 1, 0])
    const names = (id: string) =>
      b.ask<{ name: string }[]>(id, { ask: 'tools' }).map(({ name }) => name)
    expect(names('other')).not.toContain('s__t')
    expect(names('same')).toContain('s__t')
  })

  test('H2, M4: an import from inside joins the family of who brings it, whatever the file says', async () => {
    const b = await bench()
    await b.create('spy', configOf({ maxTurns: 2 }))
    b.operations.addLabels('me', 'spy', ['private'], b.now)
    const { exported } = b.export('spy')
    expect(exported.info.labels).toEqual(['private'])
    const { digest: _, ...rest } = exported
    const edited = structuredClone(rest)
    edited.info.family = 'elsewhere:1'
    delete edited.info.labels
    edited.agentState.config.limits.maxTurns = 1_000
    const text = JSON.stringify(writeExport(edited))
    const { agent } = b.import(text, options(b, 'copy', { parent: 'spy' }))
    const spy = b.operations.standing('me', 'spy', 0)
    expect(agent).toMatchObject({ family: spy.agent.family, depth: 1 })
    expect(spy.family).toMatchObject({ labels: ['private'], limits: { maxTurns: 2 } })
    // In the hands of another owner it has seen what it had seen.
    const away = b.import(JSON.stringify(exported), options(b, 'away', { owner: 'other' }))
    expect(b.operations.standing(null, 'away', 0).family.labels).toEqual(['private'])
    expect(away.agent.family).not.toBe(spy.agent.family)
  })

  test('M5: what no agent can hold is refused before it gets to the thread of all agents', async () => {
    const b = await bench()
    await b.create('a')
    const { digest: _, ...rest } = b.export('a').exported
    const read = (more: object) => () =>
      readImport(Buffer.from(JSON.stringify(writeExport({ ...rest, ...more }))))
    const message = { role: 'user' as const, content: 'x'.repeat(1_000_000) }
    const messages = Array.from({ length: 5 }, () => message)
    const state = { ...rest.agentState, messages }
    expect(read({ agentState: state })).toThrow(/conversation has 5000000/)
    const file = { path: 'f', modifiedAt: 1, text: 'x'.repeat(9_000_000) }
    expect(read({ files: [file] })).toThrow(/files have 9000000 bytes/)
    expect(read({})).not.toThrow()
  })

  test('M2: a limit on cost holds after an import by any way, or it is refused', async () => {
    const b = await bench()
    const price = { inputMicros: 10, outputMicros: 20 }
    await b.create('a', configOf({ maxCostMicros: 300 }, { price }))
    const text = JSON.stringify(b.export('a').exported)
    const away = { installation: 'elsewhere' }
    const set = { ...away, prices: { 'script:test': price } }
    for (const [id, given] of [
      ['text', text],
      ['bundle', bundleOf(b, 'a')],
      ['base64', bundleOf(b, 'a').toString('base64')],
    ] as const) {
      expect(() => b.import(given, options(b, 'no', away))).toThrow(/needs a price/)
      b.import(given, options(b, id, set))
      // 10 tokens in and 5 out: 200 millionths a turn.
      await b.model(id, await b.prompt(id), 'one')
      await b.model(id, await b.prompt(id), 'two')
      await expect(b.prompt(id), id).rejects.toThrow(/stopped/)
    }
    const dearer = { 'script:test': { inputMicros: 100, outputMicros: 200 } }
    const { restored } = b.import(bundleOf(b, 'a'), options(b, 'dear', { ...away, prices: dearer }))
    expect(restored).toBe('json')
    await b.model('dear', await b.prompt('dear'), 'one')
    await expect(b.prompt('dear')).rejects.toThrow(/stopped/)
  })

  test('M2: a child or import of a dearer model is counted at its own price', async () => {
    const b = await bench()
    const cheap = { inputMicros: 1, outputMicros: 1 }
    const dear = { inputMicros: 100, outputMicros: 100 }
    await b.create('a', configOf({ maxCostMicros: 1_000 }, { price: cheap }))
    await b.model('a', await b.prompt('a'), 'one')
    const exported = structuredClone(b.export('a').exported)
    const { digest: _, ...rest } = exported
    rest.agentState.config.model = 'dear:one'
    rest.info.model = 'dear:one'
    rest.agentState.config.limits.maxCostMicros = null
    const text = JSON.stringify(writeExport(rest))
    expect(() => b.import(text, options(b, 'no'))).toThrow(/needs a price for `dear:one`/)
    b.import(text, options(b, 'child', { parent: 'a', prices: { 'dear:one': dear } }))
    await b.model('child', await b.prompt('child'), 'one')
    expect(b.operations.standing('me', 'a', 0).family.costMicros).toBe(15 + 1_500)
    await expect(b.prompt('a')).rejects.toThrow(/stopped/)
    const [fork] = b.operations.fork('me', 'child', { ids: ['fork'], turn: null, nowMs: b.now })
    expect(fork?.price).toEqual(dear)
  })

  test('M5: what is too much is refused before it is parsed, and without a list of issues', () => {
    const zeros = (count: number) => Buffer.from(`{"messages":[0${',0'.repeat(count)}]}`)
    expect(() => readImport(zeros(IMPORT_ELEMENTS_MAX))).toThrow(/holds more than 500000 elements/)
    expect(() => readImport(Buffer.from('['.repeat(300)))).toThrow(/nested more than 200 deep/)
    // Wrong digest: nobody looks at what is in it.
    expect(() => readImport(zeros(1_000))).toThrow(/digest/)
    // In strings nothing counts, however they are escaped.
    const text = Buffer.from(JSON.stringify({ a: `${'\\"[,'.repeat(200_000)}` }))
    expect(() => readImport(text)).toThrow(/digest/)
    const bomb = writeBundle(
      `{"a":"${'x'.repeat(IMPORT_JSON_BYTES_MAX)}"}`,
      Buffer.alloc(0),
      FORGER,
    )
    expect(bomb.length).toBeLessThan(100_000)
    expect(() => readImport(bomb)).toThrow(/damaged/)
  })

  test('M8: no form in which a secret leaves: names, binary, UTF-16, base64, long files', async () => {
    const b = await bench()
    const long = `${'x '.repeat(40_000)}${GITHUB_TOKEN}${' y'.repeat(40_000)}`
    const many = Array.from({ length: 200 }, (_, at) => `ghp_${String(at).padStart(36, 'aB3')}`)
    const files = [
      { path: `${GITHUB_TOKEN}.txt`, content: 'named' },
      { path: 'binary', content: Buffer.from(`\0\xff${GITHUB_TOKEN}\0`, 'latin1') },
      { path: 'utf16', content: Buffer.from(`\ufeff${GITHUB_TOKEN}`, 'utf16le') },
      { path: 'utf16be', content: Buffer.from(`\ufeff${GITHUB_TOKEN}`, 'utf16le').swap16() },
      { path: 'base64', content: Buffer.from(`token ${GITHUB_TOKEN}`).toString('base64') },
      { path: 'long', content: long },
      { path: 'many', content: many.join(' ') },
    ]
    const packed = packFiles(files)
    const beside = { owner: 'me', depth: 0, image: b.stepper.image.hash, asked: {}, grants: [] }
    const event = { kind: 'create', at: 1, id: 'a', seed: 'a', config: configOf() }
    b.operations.create(beside, { ...event, files: packed.files } as never, packed.bytes)
    const { exported, memory } = b.export('a')
    const bytes = exported.files.map((file) =>
      'text' in file ? Buffer.from(file.text) : Buffer.from(file.base64, 'base64'),
    )
    for (const form of [
      Buffer.from(GITHUB_TOKEN),
      Buffer.from(GITHUB_TOKEN, 'utf16le'),
      Buffer.from(GITHUB_TOKEN, 'utf16le').swap16(),
      Buffer.from(Buffer.from(`token ${GITHUB_TOKEN}`).toString('base64')),
      ...many.map((each) => Buffer.from(each)),
    ])
      for (const content of [Buffer.from(JSON.stringify(exported)), ...bytes])
        expect(content.includes(form)).toBe(false)
    expect(exported.secrets.reduce((sum, { count }) => sum + count, 0)).toBe(206)
    expect(exported.files.map(({ path }) => path)).toContain('[secret: github-token].txt')
    // The memory has them all, and so stays here unless they are to be kept.
    expect(Buffer.from(memory).includes(GITHUB_TOKEN)).toBe(true)
    expect(JSON.stringify(exported)).not.toContain(GITHUB_TOKEN)
  })

  test('F9: what an export takes of the thread of all agents does not depend on what is in it', async () => {
    const b = await bench()
    const size = 1_000_000
    const header = '-----BEGIN PRIVATE KEY-----'
    const contents = {
      plain: 'x'.repeat(size),
      keys: header.repeat(Math.floor(size / header.length)),
    }
    for (const [id, content] of Object.entries(contents))
      await b.create(id, configOf(), 'me', packFiles([{ path: 'f', content }]).files)
    const least = Object.keys(contents).map((id) => {
      const taken = Array.from({ length: 7 }, () => {
        const before = process.threadCpuUsage()
        runWhole(b.operations.takeExport('me', id, b.now, false))
        const { user, system } = process.threadCpuUsage(before)
        return user + system
      })
      return Math.min(...taken)
    })
    const [plain = 0, keys = 0] = least
    expect(keys).toBeLessThan(4 * plain)
  })

  test('imports count against the family they came from', async () => {
    const b = await bench()
    await b.create('a', configOf({ maxTurns: 3 }))
    await b.model('a', await b.prompt('a'), 'one')
    const text = JSON.stringify(b.export('a').exported)
    b.import(text, options(b, 'x'))
    b.import(text, options(b, 'y'))
    await b.model('x', await b.prompt('x'), 'two')
    await b.model('y', await b.prompt('y'), 'three')
    await expect(b.prompt('x')).rejects.toThrow(/stopped/)
    const away = b.import(text, options(b, 'z', { installation: 'elsewhere' }))
    expect(b.stepper.journal.family(away.agent.family).turns).toBe(1)
  })

  test('the number of a family that is gone is not given again', async () => {
    const b = await bench()
    const familyOf = (id: string) => b.operations.standing(null, id, 0).agent.family
    await b.create('a')
    await b.create('b')
    const text = JSON.stringify(b.export('b').exported)
    const gone = [familyOf('a'), familyOf('b')]
    b.operations.remove('me', 'b')
    b.operations.remove('me', 'a')
    await b.create('c')
    expect(gone).not.toContain(familyOf('c'))
    const away = b.import(text, options(b, 'd', { installation: 'elsewhere' }))
    expect([...gone, familyOf('c')]).not.toContain(away.agent.family)
  })

  test('every byte of a small bundle changed: refused, and nothing is there after it', async () => {
    const b = await bench()
    await b.create('a')
    const whole = writeBundle(JSON.stringify(b.export('a').exported), Buffer.alloc(0), KEY)
    expect(b.import(whole, options(b, 'whole')).restored).toBe('json')
    for (let at = 0; at < whole.length; at += 1) {
      const bad = Buffer.from(whole)
      bad[at] = (bad[at] as number) ^ (1 << (at % 8))
      expect(() => b.import(bad, options(b, 'bad')), String(at)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^AGENT_IMPORT$/) }),
      )
    }
    expect(() => b.operations.standing(null, 'bad', 0)).toThrow(/no agent/)
  })

  test('corrupt bundles: 1,000 mutations, no crash, no partial import', {
    timeout: 180_000,
  }, async () => {
    const b = await worked()
    const whole = bundleOf(b, 'a')
    const text = Buffer.from(JSON.stringify(b.export('a').exported))
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
            b.import(given, options(b, `m${taken}`))
            taken += 1
          } catch (error) {
            expect((error as { code?: string }).code).toMatch(/^AGENT_/)
          }
        },
      )
    fc.assert(mutate(whole), runs(500))
    fc.assert(mutate(text), runs(500))
    expect(taken).toBe(0)
    expect(b.operations.list('me', null, 0, 100)).toHaveLength(before)
    expect(essence(b.export('a').exported)).toEqual(essence(JSON.parse(text.toString())))
  })
})
