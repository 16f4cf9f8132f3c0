// All servers at once, at `/mcp` and through a pipe: published servers used by the real SDK client,
// and one that cannot be started. They do what they do alone, under the names that were given out.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { splitElements, splitMembers } from '../../packages/protocol/src/json/raw-members.ts'
import { PlainClient } from '../support/plain-client.ts'
import { type RealClient, straight, throughGate } from '../support/real-client.ts'
import { forms } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  NODE,
  published,
  type RunningGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'

const ALL = ''
const folder = fileScratchDirectory()
const servers = {
  everything: published('everything'),
  filesystem: published('filesystem', folder),
  memory: { ...published('memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } },
  dead: { command: ['sluice-no-such-program'] },
}
const POLICY = `
version: 1
default: allow
tools:
  everything/get-env: hide
  filesystem/move_file: { action: deny, reason: files stay where they are }
`

let gate: RunningGate
let plain: PlainClient
let real: RealClient

beforeAll(async () => {
  writeFileSync(join(folder, 'hello.txt'), 'read through the gate')
  gate = await startGate({ servers, policy: POLICY })
  ;[plain, real] = await Promise.all([PlainClient.open(gate, ALL), throughGate(gate, ALL)])
}, 180_000)
afterAll(async () => {
  await endGates()
})

const textOf = (result: object): string =>
  (result as { content?: { text: string }[] }).content?.[0]?.text ?? ''

/** Every tool of a list as it was written. */
function toolsIn(reply: string): string[] {
  const [message = ''] = /\{"jsonrpc.*"result".*$/m.exec(reply) ?? []
  const result = splitMembers(message).get('result') ?? ''
  return [...splitElements(splitMembers(result).get('tools') ?? '')]
}

test('what any server can do is there, and what each says, under its name', () => {
  const { client } = real
  expect(client.getServerVersion()).toMatchObject({ name: 'sluice' })
  expect(client.getServerCapabilities()).toMatchObject({
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
    tasks: { requests: { tools: { call: {} } } },
  })
  const instructions = client.getInstructions() ?? ''
  expect(instructions).toMatch(
    /# Server everything \(its tools begin with everything__\)\n\n# Everything/,
  )
  expect(instructions).toContain('Not there at the moment: dead.')
})

test.each(forms(['everything', 'filesystem', 'memory'] as const))(
  'the tools of %s are listed byte by byte but for the name',
  async (server) => {
    const alone = await PlainClient.open(gate, server)
    const [own, all] = await Promise.all([alone.ask('tools/list'), plain.ask('tools/list')])
    const isMine = (text: string) => JSON.parse(text).name.startsWith(`${server}__`)
    const mine = toolsIn(all.text).filter(isMine)
    expect(mine).toEqual(
      toolsIn(own.text).map((text) => text.replace('"name":"', `"name":"${server}__`)),
    )
    expect(mine.length).toBeGreaterThan(8)
    await alone.end()
  },
)

test('prompts, resources and templates are listed too', async () => {
  const prompts = (await real.client.listPrompts()).prompts.map(({ name }) => name)
  expect(prompts).toContain('everything__args-prompt')
  const uris = (await real.client.listResources()).resources.map(({ uri }) => uri)
  expect(uris).toContain('demo://resource/static/document/architecture.md')
  expect((await real.client.listResourceTemplates()).resourceTemplates).toHaveLength(2)
})

test('tools are called by the names that were given out, and judged by their own', async () => {
  const { client } = real
  const path = join(folder, 'hello.txt')
  const read = { name: 'filesystem__read_text_file', arguments: { path } }
  expect(textOf(await client.callTool(read))).toBe('read through the gate')
  const destination = `${path}.moved`
  const move = { name: 'filesystem__move_file', arguments: { source: path, destination } }
  expect(textOf(await client.callTool(move))).toBe('denied by policy: files stay where they are')
  const graph = await client.callTool({ name: 'memory__read_graph', arguments: {} })
  expect(graph.structuredContent).toEqual({ entities: [], relations: [] })
})

test('a server that could not be started is missing, and an error where it is called', async () => {
  const { answer } = await plain.call('dead__tool')
  expect(answer.error.message).toMatch(/`dead` is not there.*no such program.*nothing was sent/)
  expect(gate.log).toMatch(/warn +it is not there.*server=dead/)
})

describe('everything', () => {
  let direct: RealClient
  beforeAll(async () => {
    direct = await straight(servers.everything.command)
  })
  afterAll(() => direct.close())

  /** The same on both sides; `prefix` is what its names begin with. */
  async function same(use: (client: RealClient['client'], prefix: string) => Promise<unknown>) {
    const [one, other] = await Promise.all([
      use(direct.client, ''),
      use(real.client, 'everything__'),
    ])
    expect(other).toEqual(one)
  }
  const sameCall = (name: string, args: Record<string, unknown>) =>
    same((client, prefix) => client.callTool({ name: prefix + name, arguments: args }))

  test('calls, prompts, completions and resources', async () => {
    await sameCall('echo', { message: 'hé' })
    await sameCall('get-structured-content', { location: 'Chicago' })
    const city = { city: 'Paris', state: 'Texas' }
    await same((client, prefix) =>
      client.getPrompt({ name: `${prefix}args-prompt`, arguments: city }),
    )
    await same((client, prefix) =>
      client.complete({
        ref: { type: 'ref/prompt', name: `${prefix}completable-prompt` },
        argument: { name: 'department', value: 'E' },
      }),
    )
    await same((client) =>
      client.readResource({ uri: 'demo://resource/static/document/features.md' }),
    )
    const dynamic = await real.client.readResource({ uri: 'demo://resource/dynamic/text/7' })
    expect(JSON.stringify(dynamic)).toContain('Resource 7')
  })

  test('what the server asks of the client', async () => {
    // The server learns of roots a moment after it has begun.
    await until(async () => {
      const { tools } = await real.client.listTools()
      return tools.some(({ name }) => name === 'everything__get-roots-list')
    })
    await sameCall('trigger-sampling-request', { prompt: 'p', maxTokens: 7 })
    await sameCall('trigger-elicitation-request', {})
    await sameCall('get-roots-list', {})
  })

  test('progress comes on the way to the answer', async () => {
    const name = 'everything__trigger-long-running-operation'
    const params = { name, arguments: { duration: 0.2, steps: 4 }, _meta: { progressToken: 'p' } }
    const { messages } = await plain.ask('tools/call', params)
    const progress = messages.filter(({ method }) => method === 'notifications/progress')
    expect(progress.map(({ params: each }) => [each.progressToken, each.progress])).toEqual(
      [1, 2, 3, 4].map((step) => ['p', step]),
    )
  })
})

test('a pipe without --server is the same', async () => {
  const config = join(gate.folder, 'sluice.yaml')
  const piped = await straight([NODE, SLUICE, 'stdio', '--config', config])
  const [ours, theirs] = await Promise.all([piped.client.listTools(), real.client.listTools()])
  const still = ({ tools }: typeof ours) =>
    tools.filter(({ name }) => !name.startsWith('everything__'))
  expect(still(ours)).toEqual(still(theirs))
  const echo = { name: 'everything__echo', arguments: { message: 'x' } }
  expect(await piped.client.callTool(echo)).toEqual(await real.client.callTool(echo))
  const sampling = 'everything__trigger-sampling-request'
  const sampled = await piped.client.callTool({
    name: sampling,
    arguments: { prompt: 'p', maxTokens: 8 },
  })
  expect(JSON.stringify(sampled)).toContain('sampled for 8')
  await piped.close()
})
