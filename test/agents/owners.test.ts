// Who may what: owners, families and depth, at the doors where callers come in. The server is
// connected in process, as the gate will connect it.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { RunTasks } from '../../packages/agents/src/mcp/run-tasks.ts'
import { createAgentsServer } from '../../packages/agents/src/mcp/server.ts'
import { Service } from '../../packages/agents/src/service/service.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { settingsOf } from './model-server.ts'

const LONG = { timeout: 180_000 }
const scratch = fileScratchDirectory()
const directory = join(scratch, 'data')
const models = settingsOf({}, { scripts: join(scratch, 'scripts') })
let service: Service

beforeAll(async () => {
  mkdirSync(join(scratch, 'scripts'))
  const turns = [{ text: 'one', delayMs: 1_500 }, { text: 'two' }]
  writeFileSync(join(scratch, 'scripts', 'slow.json'), JSON.stringify({ turns }))
  service = await Service.start({ directory, models })
}, 180_000)

afterAll(async () => {
  await service.close()
})

async function connectClient(owner: string, agent?: string): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const caller = agent === undefined ? { owner } : { owner, agent }
  await createAgentsServer(service, caller, '1').connect(far)
  const client = new Client({ name: owner, version: '1' })
  await client.connect(near)
  return client
}

async function connect(owner: string, agent?: string) {
  const client = await connectClient(owner, agent)
  return async (name: string, args: object) => {
    const result = await client.callTool({ name, arguments: args as Record<string, unknown> })
    return JSON.parse((result.content as { text: string }[])[0]?.text ?? 'null')
  }
}

describe('owners', () => {
  test('another principal gets "not found", whatever it asks', LONG, async () => {
    const [ann, bob] = [await connect('ann'), await connect('bob')]
    const { agent } = await ann('wasm_agent_create', {
      model: 'script:slow',
      files: { secret: 'x' },
    })
    const calls: [string, object][] = [
      ['wasm_agent_prompt', { input: 'hi' }],
      ['wasm_agent_wait', {}],
      ['wasm_agent_tool', { toolName: 'read_file', toolInput: { path: 'secret' } }],
      ['wasm_agent_files', {}],
      ['wasm_agent_todos', {}],
      ['wasm_agent_is_stopped', {}],
      ['wasm_agent_state', {}],
      ['wasm_agent_tools', {}],
      ['wasm_agent_turn_count', {}],
      ['wasm_agent_export', {}],
      ['wasm_agent_fork', {}],
      ['wasm_agent_stop', {}],
      ['wasm_agent_pause', {}],
      ['wasm_agent_resume', {}],
      ['wasm_agent_history', {}],
      ['wasm_agent_replay', {}],
      ['wasm_agent_reset', {}],
      ['wasm_agent_terminate', {}],
    ]
    for (const [name, args] of calls) {
      const answer = await bob(name, { agentId: agent.id, ...args })
      const unknown = await bob(name, { agentId: 'agent_none', ...args })
      expect({ name, code: answer.code }).toEqual({ name, code: 'AGENT_NOT_FOUND' })
      expect(answer.error.replace(agent.id, 'agent_none')).toBe(unknown.error)
    }
    expect(await bob('wasm_agent_list', {})).toMatchObject({ count: 0 })
    expect(await ann('wasm_agent_files', { agentId: agent.id })).toMatchObject({ fileCount: 1 })
  })

  test('another principal reads no resource and no task, and cancels none', LONG, async () => {
    const { id } = await service.create('ann', { model: 'script:slow', files: { secret: 'x' } })
    const { runId } = await service.prompt('ann', id, { input: 'hi', waitMs: 0 })
    const bob = await connectClient('bob')
    for (const part of ['todos', 'export', 'files/secret'])
      await expect(bob.readResource({ uri: `agent://${id}/${part}` })).rejects.toThrow(
        `there is no agent \`${id}\``,
      )
    expect((await bob.listResources()).resources).toEqual([])
    const tasks = new RunTasks(service, { owner: 'bob' })
    for (const ask of ['get', 'result', 'cancel'] as const)
      await expect(tasks[ask](`${id}.${runId}`)).rejects.toThrow('there is no task')
    expect(await service.wait('ann', id, runId)).toMatchObject({ response: 'one' })
  })

  test('templates and settings are apart as well', LONG, async () => {
    const [ann, bob] = [await connect('ann'), await connect('bob')]
    const template = { id: 'mine', name: 'Mine', instructions: 'x' }
    await ann('wasm_gallery_add_custom', { template })
    await ann('wasm_gallery_activate', { id: 'mine' })
    expect(await bob('wasm_gallery_create', { template: 'mine' })).toMatchObject({
      code: 'TEMPLATE_UNKNOWN',
    })
    expect(await bob('wasm_gallery_active', {})).toEqual({ activeId: null })
  })

  test('an agent that an agent makes joins its family, and is bounded in depth', LONG, async () => {
    const ann = await connect('ann')
    const root = await ann('wasm_agent_create', { model: 'script:slow', maxTurns: 1 })
    let parent: string = root.agent.id
    for (let depth = 1; depth <= 4; depth += 1) {
      const child = await (await connect('ann', parent))('wasm_agent_create', {
        model: 'script:slow',
        maxTurns: 50,
      })
      parent = child.agent.id
    }
    const { agent } = await service.steps.standing('ann', parent, Date.now())
    expect(agent.depth).toBe(4)
    const deeper = await (await connect('ann', parent))('wasm_agent_create', {
      model: 'script:slow',
    })
    expect(deeper).toMatchObject({ code: 'AGENT_LIMIT' })
    await ann('wasm_agent_prompt', { agentId: parent, input: 'go' })
    // The family's one turn is used, by whichever of them.
    expect(await ann('wasm_agent_is_stopped', { agentId: root.agent.id })).toMatchObject({
      isStopped: true,
      reason: 'host_limit',
    })
  })
})

test('an agent sees its own family only, unless it was created to see more', LONG, async () => {
  const ann = await connect('ann')
  const made = async (more: object = {}, as = ann): Promise<string> =>
    (await as('wasm_agent_create', { model: 'script:slow', ...more })).agent.id
  const [one, other, wide] = [await made(), await made(), await made({ sees: 'owner' })]
  const inside = await connect('ann', one)
  const child = await made({}, inside)
  const ids = async (call: typeof ann) => {
    const { agents } = await call('wasm_agent_list', {})
    return agents.map(({ id }: { id: string }) => id)
  }
  expect(await ids(inside)).toEqual([one, child])
  expect(await inside('wasm_agent_todos', { agentId: child })).toMatchObject({ todos: [] })
  for (const name of [
    'wasm_agent_todos',
    'wasm_agent_terminate',
    'wasm_agent_export',
    'wasm_agent_fork',
  ])
    expect(await inside(name, { agentId: other })).toEqual({
      error: `there is no agent \`${other}\``,
      code: 'AGENT_NOT_FOUND',
    })
  expect(await inside('wasm_agent_create', { sees: 'owner' })).toMatchObject({
    code: 'AGENT_INPUT',
  })
  const all = await connect('ann', wide)
  expect(await ids(all)).toEqual(expect.arrayContaining([one, other, child]))
  expect(await all('wasm_agent_todos', { agentId: other })).toMatchObject({ todos: [] })
})

describe('a lost connection', () => {
  test('ends no run; with resume: ask a run that was cut off waits to be asked', LONG, async () => {
    const { id } = await service.create('ann', { model: 'script:slow' })
    expect(await service.prompt('ann', id, { input: 'go', waitMs: 10 })).toMatchObject({
      state: 'running',
    })
    await service.close()
    service = await Service.start({ directory, models, resume: 'ask' })
    const state = async () => (await service.steps.standing('ann', id, Date.now())).agent.state
    expect(await state()).toBe('running')
    expect(await service.wait('ann', id, undefined, 100)).toMatchObject({ state: 'running' })
    await service.resume('ann', id, {})
    await vi.waitFor(async () => expect(await state()).toBe('idle'), LONG)
    expect(await service.wait('ann', id, undefined)).toMatchObject({ response: 'one' })
  })
})
