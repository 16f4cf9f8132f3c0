import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Bench, bench } from '../agents.test-support.ts'
import { AgentError } from '../shared/errors.ts'
import { TOOLS } from './all-tools.ts'
import { LABEL_FLOWS, withLabelFlow } from './label-flow.ts'
import type { ToolSetting } from './tool-table.ts'

test('H2: for every tool somebody has decided which way labels go, and the documentation says it', () => {
  const names = TOOLS.map(({ name }) => name)
  expect(Object.keys(LABEL_FLOWS).sort()).toEqual([...names].sort())
  const docs = readFileSync(new URL('../../../../docs/concepts/agents.md', import.meta.url), 'utf8')
  for (const [name, { into, from }] of Object.entries(LABEL_FLOWS))
    expect(docs, name).toMatch(new RegExp(`^\\| .*\`${name}\`.* \\| ${into} \\| ${from} \\|$`, 'm'))
})

test('H2: a tool that names an agent reads from it or tells it something', () => {
  for (const { name, input } of TOOLS) {
    const flow = LABEL_FLOWS[name]
    if ('agentId' in input.shape) expect([flow?.into, flow?.from], name).toContain('agent')
    if (name.startsWith('wasm_gallery_'))
      expect([flow?.into, flow?.from].join(), name).toMatch(/gallery|template/)
  }
})

/** A caller with labels of its own, whose calls do what `run` says. */
function callerOf(b: Bench, ...seen: string[]) {
  const saw = new Set(seen)
  const labels = {
    saw: () => [...saw],
    see: (more: readonly string[]) => {
      for (const label of more) saw.add(label)
    },
  }
  const setting = {
    service: { steps: b.operations },
    owner: 'me',
    labels,
  } as unknown as ToolSetting
  const call = async (name: string, input: object, run: () => object | undefined) => {
    const done = await withLabelFlow(name, input, setting, async () => run() ?? {}).catch(String)
    return { done, saw: [...saw] }
  }
  return {
    call,
    terminate: (agentId: string) =>
      call('wasm_agent_terminate', { agentId }, () => void b.operations.remove('me', agentId)),
    state: (agentId: string) =>
      call('wasm_agent_state', { agentId }, () => b.operations.standing('me', agentId, 0)),
    list: (input: object = {}) => call('wasm_agent_list', input, () => ({ agents: [] })),
  }
}

test('F2: which agents were removed carries the labels of who removed them', async () => {
  const b = await bench()
  for (const id of ['one', 'two', 'three']) await b.create(id)
  b.operations.fork('me', 'two', { ids: ['two-b'], turn: null, nowMs: b.now })
  expect((await callerOf(b).terminate('three')).saw).toEqual([])
  // Nobody with labels did that.
  expect((await callerOf(b).state('three')).saw).toEqual([])

  const spy = callerOf(b, 'private')
  await spy.terminate('one')
  await spy.terminate('two')
  for (const id of ['one', 'two', 'three', 'never']) {
    const { done, saw } = await callerOf(b).state(id)
    expect([String(done), saw]).toEqual([expect.stringContaining('no agent'), ['private']])
  }
  expect((await callerOf(b).terminate('one')).saw).toEqual(['private'])
  expect((await callerOf(b).state('two-b')).saw).toEqual(['private'])
  expect((await callerOf(b).list()).saw).toEqual(['private'])
  expect(b.operations.ownerLabels('other')).toEqual([])
})

test('F2: how many forks there are carries the labels of who made them', async () => {
  const b = await bench()
  await b.create('child')
  await callerOf(b, 'private').call('wasm_agent_fork', { agentId: 'child' }, () =>
    b.operations.fork('me', 'child', { ids: ['x', 'y'], turn: null, nowMs: b.now }),
  )
  expect((await callerOf(b).list()).saw).toEqual(['private'])
  expect((await callerOf(b).state('child')).saw).toEqual(['private'])
})

test('F2: a refusal because there are too many agents carries the labels of all', async () => {
  const b = await bench()
  await b.create('a')
  b.operations.addLabels('me', 'a', ['private'], b.now)
  const refused = (code: 'AGENT_LIMIT' | 'AGENT_INPUT') =>
    callerOf(b).call('wasm_agent_create', {}, () => {
      throw new AgentError(code, 'no')
    })
  expect((await refused('AGENT_LIMIT')).saw).toEqual(['private'])
  expect((await refused('AGENT_INPUT')).saw).toEqual([])
})

test('F6: a list with a filter or a cursor carries the labels of what it leaves out', async () => {
  const b = await bench()
  for (const id of ['clean', 'labelled']) await b.create(id)
  b.operations.addLabels('me', 'labelled', ['private'], b.now)
  for (const input of [{ filter: { state: 'running' } }, { cursor: '99' }])
    expect((await callerOf(b).list(input)).saw).toEqual(['private'])
})
