// Published MCP servers behind the real gate, used by the real SDK client: what they do through the
// gate is what they do without it, but for the policy.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import { type RealClient, straight, throughGate } from '../support/real-client.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { endGates, published, type ServingGate, until } from '../support/start-gate.ts'

const folder = fileScratchDirectory()
const servers = {
  everything: published('everything'),
  filesystem: published('filesystem', folder),
  memory: { ...published('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
}
const POLICY = `
version: 1
default: allow
tools:
  filesystem/move_file: { action: deny, reason: files stay where they are }
`

let gate: ServingGate

beforeAll(async () => {
  writeFileSync(join(folder, 'hello.txt'), 'read through the gate')
  gate = await serveGate({ servers, policy: POLICY })
})
afterAll(async () => {
  await endGates()
})

describe('filesystem and memory', () => {
  test('a file is read, and a denied tool says why', async () => {
    const { client, close } = await throughGate(gate, 'filesystem')
    const path = join(folder, 'hello.txt')
    const read = await client.callTool({ name: 'read_text_file', arguments: { path } })
    expect(read.content).toEqual([{ type: 'text', text: 'read through the gate' }])
    const moved = await client.callTool({
      name: 'move_file',
      arguments: { source: path, destination: `${path}.moved` },
    })
    expect(moved.isError).toBe(true)
    expect(moved.content).toEqual([
      { type: 'text', text: 'denied by policy: files stay where they are' },
    ])
    await close()
  })

  test('several sessions at once share what the server keeps, not each other', async () => {
    const clients = await Promise.all([1, 2, 3].map(() => throughGate(gate, 'memory')))
    for (const [at, { client }] of clients.entries()) {
      const entity = { name: `e${at}`, entityType: 'test', observations: [] }
      await client.callTool({ name: 'create_entities', arguments: { entities: [entity] } })
    }
    const graph = await clients[0]?.client.callTool({ name: 'read_graph', arguments: {} })
    expect(JSON.stringify(graph)).toContain('e2')
    await Promise.all(clients.map(({ close }) => close()))
  })
})

describe('everything', () => {
  let direct: RealClient
  let gated: RealClient

  beforeAll(async () => {
    const both = [straight(servers.everything.command), throughGate(gate, 'everything')] as const
    ;[direct, gated] = await Promise.all(both)
  })
  afterAll(() => Promise.all([direct.close(), gated.close()]))

  /** The same on both sides. */
  async function same(use: (real: RealClient) => Promise<unknown>): Promise<unknown> {
    const [one, other] = await Promise.all([use(direct), use(gated)])
    expect(other).toEqual(one)
    return other
  }

  test('what the server says of itself', async () => {
    await same(async ({ client }) => client.getServerCapabilities())
    await same(async ({ client }) => client.getInstructions())
    await same(async ({ client }) => client.getServerVersion())
  })

  test('calls, plain and structured', async () => {
    await same(({ client }) => client.callTool({ name: 'echo', arguments: { message: 'hé' } }))
    await same(({ client }) => client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } }))
    await same(({ client }) => client.callTool({ name: 'get-tiny-image', arguments: {} }))
    const location = { location: 'Chicago' }
    await same(({ client }) =>
      client.callTool({ name: 'get-structured-content', arguments: location }),
    )
  })

  test('resources, templates, prompts, completion', async () => {
    await same(({ client }) => client.listResources())
    await same(({ client }) => client.listResourceTemplates())
    await same(({ client }) => client.listPrompts())
    const uri = 'demo://resource/static/document/architecture.md'
    await same(({ client }) => client.readResource({ uri }))
    await same(({ client }) =>
      client.getPrompt({ name: 'args-prompt', arguments: { city: 'Paris', state: 'Texas' } }),
    )
    const completed = await same(({ client }) =>
      client.complete({
        ref: { type: 'ref/prompt', name: 'completable-prompt' },
        argument: { name: 'department', value: 'E' },
      }),
    )
    expect(completed).toMatchObject({ completion: { values: ['Engineering'] } })
    await same(({ client }) => client.ping())
  })

  test('progress comes on the way to the answer', async () => {
    const name = 'trigger-long-running-operation'
    const args = { duration: 0.2, steps: 4 }
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
    await gated.client.callTool({ name, arguments: args }, undefined, { onprogress })
    // The SDK may miss one that comes together with the answer.
    expect(seen.slice(0, 3)).toEqual([1, 2, 3])
    const plain = await PlainClient.open(gate, 'everything')
    const params = { name, arguments: args, _meta: { progressToken: 'p' } }
    const { messages } = await plain.ask('tools/call', params)
    const [answer, ...rest] = messages.toReversed()
    const notified = rest.filter(({ method }) => method === 'notifications/progress').toReversed()
    expect(notified.map(({ params }) => [params.progressToken, params.progress])).toEqual(
      [1, 2, 3, 4].map((step) => ['p', step]),
    )
    expect(answer.result.content).toHaveLength(1)
    await plain.end()
  })

  test('sampling, elicitation and roots are asked of the client', async () => {
    const sampled = await same(({ client }) =>
      client.callTool({
        name: 'trigger-sampling-request',
        arguments: { prompt: 'hi', maxTokens: 7 },
      }),
    )
    expect(JSON.stringify(sampled)).toContain('sampled for 7')
    const elicited = await same(({ client }) =>
      client.callTool({ name: 'trigger-elicitation-request', arguments: {} }),
    )
    expect(JSON.stringify(elicited)).toContain('A Name')
    await until(async () =>
      JSON.stringify(
        await gated.client.callTool({ name: 'get-roots-list', arguments: {} }),
      ).includes('file:///a-root'),
    )
    await gated.client.sendRootsListChanged()
    const asked = recordsOf(gate).filter(({ kind }) => kind === 'intent')
    const methods = asked.map((record) => ('method' in record ? record.method : ''))
    expect(methods).toEqual(
      expect.arrayContaining(['sampling/createMessage', 'elicitation/create', 'roots/list']),
    )
  })

  test('log messages, subscriptions and updates reach the client by themselves', async () => {
    await same(({ client }) => client.setLoggingLevel('debug'))
    const uri = 'demo://resource/dynamic/text/1'
    await same(({ client }) => client.subscribeResource({ uri }))
    await gated.client.callTool({ name: 'toggle-subscriber-updates', arguments: {} })
    await gated.client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
    const methods = () => new Set(gated.notifications.map(({ method }) => method))
    await until(() => methods().has('notifications/resources/updated'))
    await until(() => methods().has('notifications/message'))
    await gated.client.callTool({ name: 'toggle-subscriber-updates', arguments: {} })
    await gated.client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
    await same(({ client }) => client.unsubscribeResource({ uri }))
    expect(gated.notifications.map(({ method }) => method)).toContain(
      'notifications/tools/list_changed',
    )
  })

  test('a task is followed by who made it, and by nobody else', async () => {
    const name = 'simulate-research-query'
    const call = { name, arguments: { topic: 'gates', ambiguous: false }, task: { ttl: 60_000 } }
    const plain = await PlainClient.open(gate, 'everything')
    const { answer } = await plain.ask('tools/call', call)
    const { taskId } = answer.result.task
    expect((await plain.ask('tasks/get', { taskId })).answer.result.taskId).toBe(taskId)
    const listed = (await plain.ask('tasks/list')).answer.result.tasks
    expect(listed.map((task: { taskId: string }) => task.taskId)).toEqual([taskId])
    const cancelled = (await plain.ask('tasks/cancel', { taskId })).answer.result
    expect(cancelled.status).toBe('cancelled')
    const other = await PlainClient.open(gate, 'everything')
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect((await other.ask(method, { taskId })).answer.error.message).toBe('Task not found')
    await Promise.all([plain.end(), other.end()])
  })

  test('a cancelled call is over at once, and the session goes on', async () => {
    const aborter = new AbortController()
    const call = { name: 'trigger-long-running-operation', arguments: { duration: 30, steps: 1 } }
    const calling = gated.client.callTool(call, undefined, { signal: aborter.signal })
    setTimeout(() => aborter.abort('enough'), 200)
    await expect(calling).rejects.toThrow('enough')
    await until(() =>
      recordsOf(gate).some((record) => record.kind === 'outcome' && record.status === 'cancelled'),
    )
    const again = await gated.client.callTool({ name: 'echo', arguments: { message: 'still' } })
    expect(again.isError).toBeUndefined()
  })

  test('every call on record has an outcome', async () => {
    await until(() => {
      const records = recordsOf(gate)
      const ended = new Set(records.map((record) => record.kind === 'outcome' && record.intent))
      return records.every(({ kind, seq }) => kind !== 'intent' || ended.has(seq))
    })
  })
})
