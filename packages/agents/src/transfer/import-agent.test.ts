import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Bench, bench, configOf } from '../agents.test-support.ts'
import { REMOVED_FAMILY_KEPT_MS } from '../shared/limits.ts'
import { runWhole } from '../shared/sliced.ts'
import { AgentBeginner } from './begin-agent.ts'
import { privateKey, publicHex, writeBundle } from './bundle.ts'
import { type AgentImportOptions, bringImport, writeFirstEvent } from './import-agent.ts'
import { packFiles } from './pack-files.ts'
import { writeExport } from './portable.ts'
import { readImport } from './read-import.ts'

const KEY = privateKey(randomBytes(32))
const FORGER = privateKey(randomBytes(32))

function options(b: Bench, id: string, owner = 'me'): AgentImportOptions {
  const own = { id, owner, nowMs: b.now, installation: 'here', trusted: [publicHex(KEY)] }
  return { ...own, tools: [], prices: {} }
}

test('F8: an export taken early does not give the budget of a removed family back', async () => {
  const b = await bench()
  await b.create('a', configOf({ maxTurns: 2 }))
  const { family } = b.operations.standing(null, 'a', 0).agent
  const text = JSON.stringify(b.export('a').exported)
  await b.model('a', await b.prompt('a'), 'one')
  await b.model('a', await b.prompt('a'), 'two')
  b.operations.remove('me', 'a', 1)
  const { agent } = b.import(text, options(b, 'again'))
  expect(agent.family).toBe(family)
  await expect(b.prompt('again')).rejects.toThrow(/stopped/)

  // An agent that was to be made in the family while its last one was removed is not.
  b.operations.remove('me', 'again', 2)
  expect(() =>
    b.stepper.journal.insertAgent({ ...agent, family } as never, {} as never, {} as never),
  ).toThrow(/removed meanwhile/)

  await b.create('b')
  const { family: next } = b.operations.standing(null, 'b', 0).agent
  b.operations.remove('me', 'b', 3 + REMOVED_FAMILY_KEPT_MS)
  const kept = b.stepper.journal.all('SELECT family FROM families').map((row) => row.family)
  expect(kept).toEqual([next])
  expect(next).toBeGreaterThan(family)
})

test('a first event that another thread ran is stored as if it had been run here', async () => {
  const b = await bench()
  await b.create('a', configOf(), 'me', packFiles([{ path: 'f.txt', content: 'text' }]).files)
  await b.model('a', await b.prompt('a'), 'said')
  const read = readImport(Buffer.from(JSON.stringify(b.export('a').exported)))
  const beginner = new AgentBeginner(() => b.stepper.image)
  const bring = (id: string, prices: AgentImportOptions['prices'] = {}) => {
    const given = options(b, id)
    const { config } = b.operations.planImport(read.facts, false, given)
    const first = { id, at: given.nowMs, config }
    const text = writeFirstEvent(read, first)
    const begun = beginner.begin({ text, bytes: read.bytes, atMs: given.nowMs })
    return bringImport(b.stepper, read, { ...given, prices }, { ...begun, config })
  }
  const { agent } = bring('elsewhere')
  b.import(JSON.stringify(b.export('a').exported), options(b, 'here'))
  expect(runWhole(b.operations.replay('me', 'elsewhere', null)).difference).toBeNull()
  const stateOf = (id: string) => b.export(id).exported.agentState
  expect(stateOf('elsewhere')).toEqual(stateOf('here'))
  expect(b.export('elsewhere').exported.files).toEqual(b.export('a').exported.files)
  expect(agent.summary.turnCount).toBe(1)
  await b.model('elsewhere', await b.prompt('elsewhere'), 'goes on')
  // What it was run with must still be what it gets.
  const prices = { 'script:test': { inputMicros: 1, outputMicros: 1 } }
  expect(() => bring('other', prices)).toThrow(/changed meanwhile/)
})

test('an import that has used more than a count can hold is refused', async () => {
  const b = await bench()
  await b.create('a')
  const { digest: _, ...exported } = b.export('a').exported
  const { agentState } = exported
  const { usage } = agentState
  const most = Number.MAX_SAFE_INTEGER
  for (const edit of [
    { turn_count: most },
    { tool_call_count: most },
    { usage: { ...usage, totalTokens: most } },
    { usage: { ...usage, costMicros: 1e300 } },
  ]) {
    const edited = writeExport({ ...exported, agentState: { ...agentState, ...edit } })
    expect(() => readImport(Buffer.from(JSON.stringify(edited)))).toThrow(/Too big/)
  }
})

test("F5: an import that names another owner's family does not show its labels", async () => {
  const b = await bench()
  await b.create('theirs')
  const { family } = b.operations.standing(null, 'theirs', 0).agent
  const { exported, memory } = b.export('theirs', 'keep')
  const bundle = writeBundle(JSON.stringify(exported), memory, KEY)
  b.operations.addLabels('me', 'theirs', ['private'], b.now)
  await b.create('mine', configOf(), 'other')
  const { digest: _, ...edited } = structuredClone(b.export('mine', 'redact', 'other').exported)
  edited.info.family = `here:${family}`
  const text = JSON.stringify(writeExport(edited))
  const labels = (given: string | Buffer, id: string) => {
    const { agent } = b.import(given, options(b, id, 'other'))
    expect(agent.family).not.toBe(family)
    return b.operations.standing(null, id, 0).family.labels
  }
  expect(labels(text, 'x')).toEqual([])
  expect(labels(writeBundle(text, Buffer.alloc(0), FORGER), 'y')).toEqual([])
  // Signed here, it is known whose it was.
  expect(labels(bundle, 'z')).toEqual(['private'])
})

test('an export of Claude Flow is imported: instructions, messages, todos and turns', async () => {
  const b = await bench()
  const system = { role: 'system', content: 'be good' }
  const messages = [system, { role: 'user', content: 'hi' }, { role: 'assistant', content: 'yes' }]
  const theirs = {
    agentState: { messages, turn_count: 1, stopped: false },
    tools: ['read_file'],
    todos: [{ content: 'x', status: 'pending' }],
    info: {
      id: 'wasm-agent-1',
      state: 'idle',
      config: { instructions: 'be good', maxTurns: 3 },
      model: 'anthropic:claude-sonnet-4-6',
      turnCount: 1,
      fileCount: 1,
      isStopped: false,
      createdAt: '2026-11-15T21:41:55.731Z',
    },
  }
  const { agent, restored } = b.import(JSON.stringify(theirs), options(b, 'a'))
  expect([restored, agent.model]).toEqual(['json', theirs.info.model])
  const { agentState, todos, info } = b.export('a').exported
  expect(agentState.messages.map(({ role, content }) => ({ role, content }))).toEqual(messages)
  expect(agentState.config).toMatchObject({ instructions: 'be good', limits: { maxTurns: 3 } })
  expect(todos).toMatchObject([{ content: 'x', status: 'pending' }])
  expect(info).toMatchObject({ state: 'idle', turnCount: 1, fileCount: 0, isStopped: false })
  const tool = { role: 'function', content: 'x' }
  const odd = { ...theirs, agentState: { ...theirs.agentState, messages: [...messages, tool] } }
  expect(() => b.import(JSON.stringify(odd), options(b, 'b'))).toThrow(/agentState.messages.3/)
  const late = { ...theirs, agentState: { ...theirs.agentState, messages: [...messages, system] } }
  expect(() => b.import(JSON.stringify(late), options(b, 'b'))).toThrow(/only the first/)
})

test('an export is imported in each form that it has, and keeps its configuration', async () => {
  const b = await bench()
  await b.create('a', configOf({ maxTurns: 7 }))
  const { exported } = b.export('a')
  const bytes = writeBundle(JSON.stringify(exported), new Uint8Array(), KEY)
  const bundle = bytes.toString('base64')
  const forms = [bytes, bundle, `${bundle}\n`, JSON.stringify({ ...exported, bundle }, null, 1)]
  for (const [at, form] of forms.entries()) {
    const read = readImport(Buffer.from(form))
    expect(read.facts.signer).toBe(publicHex(KEY))
    const { agent } = bringImport(b.stepper, read, options(b, `form-${at}`))
    expect(agent.asked).toEqual({ ...exported.info.config, imported: true })
  }
})
