import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Service } from '../service/service.ts'
import { serveAgentsOverStdio } from './serve-stdio.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const envelope = (extensions: object) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions },
})
const SLOW = {
  turns: [
    { text: 'first', delayMs: 100 },
    { text: 'never', delayMs: 20_000 },
  ],
}
let service: Service

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-'))
  writeFileSync(join(directory, 'slow.json'), JSON.stringify(SLOW))
  const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
  service = await Service.start({ directory, models })
  return async () => {
    await service.close()
    rmSync(directory, { recursive: true, force: true })
  }
})

/** A client of the stateless era. */
function connect(owner: string, extensions: object = { [TASKS]: {} }) {
  const input = new PassThrough()
  const output = new PassThrough({ encoding: 'utf8' })
  const handle = serveAgentsOverStdio(service, { owner }, '1', [input, output])
  onTestFinished(() => handle.close())
  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
  const waiting = new Map<number, (message: any) => void>()
  let text = ''
  output.on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const message = JSON.parse(text.slice(0, end))
      waiting.get(message.id)?.(message)
      text = text.slice(end + 1)
    }
  })
  let id = 0
  // biome-ignore lint/suspicious/noExplicitAny: the same
  const ask = (method: string, params: object = {}): Promise<any> => {
    id += 1
    const _meta = envelope(extensions)
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const call = async (name: string, args: object) =>
    (await ask('tools/call', { name, arguments: args })).result
  return { ask, call }
}

test('in 2026-07-28 a prompt is a task for who can take one, with its result in its state', async () => {
  const { ask, call } = connect('me')
  const { capabilities } = (await ask('server/discover')).result
  expect(capabilities.extensions).toEqual({ [TASKS]: {} })
  expect(capabilities.tasks).toBeUndefined()
  const made = await call('wasm_agent_create', { model: 'script:slow' })
  expect(made.resultType).toBe('complete')
  const agentId = made.structuredContent.agent.id
  const begun = await call('wasm_agent_prompt', { agentId, input: 'go' })
  expect(begun).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null })
  expect(begun.pollIntervalMs).toBeGreaterThan(0)
  const { taskId } = begun
  const get = async (id: string) => (await ask('tasks/get', { taskId: id })).result
  expect(await get(taskId)).toMatchObject({ resultType: 'complete', taskId })
  await vi.waitFor(async () => expect((await get(taskId)).status).toBe('completed'), 60_000)
  const ended = await get(taskId)
  expect(ended.result).toMatchObject({ structuredContent: { response: 'first' } })
  const late = (await ask('tasks/cancel', { taskId })).result
  expect(late.resultType).toBe('complete')
  expect((await get(taskId)).status).toBe('completed')

  const second = await call('wasm_agent_prompt', { agentId, input: 'again' })
  const other = connect('somebody')
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const refused = await other.ask(method, { taskId: second.taskId, inputResponses: {} })
    expect(refused.error.message, method).toContain('there is no task')
  }
  expect(
    (await ask('tasks/update', { taskId: second.taskId, inputResponses: {} })).result,
  ).toBeDefined()
  await ask('tasks/cancel', { taskId: second.taskId })
  await vi.waitFor(async () => expect((await get(second.taskId)).status).toBe('cancelled'), 60_000)
  const without = await call('wasm_agent_create', { model: 'script:none' })
  const third = await call('wasm_agent_prompt', {
    agentId: without.structuredContent.agent.id,
    input: 'go',
  })
  await vi.waitFor(async () => expect((await get(third.taskId)).status).toBe('failed'), 60_000)
  expect((await get(third.taskId)).error.message).toContain('MODEL_SCRIPT')
})

test('who cannot take a task, or says how long to wait, gets the answer itself', async () => {
  const plain = connect('me', {})
  const { agent } = (await plain.call('wasm_agent_create', { model: 'script:slow' }))
    .structuredContent
  const ended = await plain.call('wasm_agent_prompt', { agentId: agent.id, input: 'go' })
  expect(ended).toMatchObject({ resultType: 'complete', structuredContent: { response: 'first' } })
  const able = connect('me')
  const waited = { agentId: agent.id, input: 'again', waitMs: 0 }
  const running = await able.call('wasm_agent_prompt', waited)
  expect(running).toMatchObject({ resultType: 'complete', structuredContent: { state: 'running' } })
  await able.call('wasm_agent_stop', { agentId: agent.id, reason: 'enough' })
})
