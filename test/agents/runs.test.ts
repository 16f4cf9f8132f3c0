// Runs with a model: a real HTTP process that plays turns, a real MCP server behind a stand-in gate.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { programFile } from '../support/start-gate.ts'
import { type ModelServer, modelServer, settingsOf } from './model-server.ts'
import { type StandIn, standInGate } from './stand-in-gate.ts'

const COUNTER = programFile('counter')
const LONG = { timeout: 180_000 }

const scratch = fileScratchDirectory()
const scripts = join(scratch, 'scripts')
const log = join(scratch, 'calls.log')
let model: ModelServer
let server: StandIn
let service: Service

beforeAll(async () => {
  mkdirSync(scripts)
  model = await modelServer(scratch)
  server = await standInGate('count', [process.execPath, COUNTER, log], ({ args }) => {
    const { fate } = args as { fate?: string }
    return fate === 'deny' || fate === 'hold' ? fate : 'allow'
  })
  const models = settingsOf({ local: { url: model.url } }, { scripts })
  service = await Service.start({ directory: join(scratch, 'data'), models, gate: server })
}, 180_000)

afterAll(async () => {
  await service.close()
  await server.close()
  model.stop()
})

beforeEach(() => rmSync(log, { force: true }))

function lines(file: string): { name: string; arguments: object; effect: string }[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

let nextScript = 1

function script(turns: object[]): string {
  const name = `s${nextScript++}`
  writeFileSync(join(scripts, `${name}.json`), JSON.stringify({ turns }))
  return `script:${name}`
}

describe('a run over HTTP', () => {
  test('prompt, tools, results into the conversation, answer', LONG, async () => {
    const name = model.plays([
      {
        toolCalls: [
          { name: 'write_file', input: { path: 'a.txt', content: 'hello' } },
          { name: 'write_todos', input: { todos: ['look'] } },
        ],
      },
      { toolCalls: [{ name: 'read_file', input: { path: './a.txt' } }] },
      { text: 'it says hello' },
    ])
    const { id } = await service.create('me', { model: name, instructions: 'be brief' })
    const seen: string[] = []
    const texts: string[] = []
    const answer = await service.prompt(
      'me',
      id,
      { input: 'go' },
      {
        onEvent: ({ message }) => void seen.push(message),
        onText: (text) => void texts.push(text),
      },
    )
    // As they came, in more than one piece; the answer is the same as a whole.
    expect(texts.length).toBeGreaterThan(1)
    expect(texts.join('')).toBe('it says hello')
    expect(answer).toMatchObject({
      state: 'ended',
      response: 'it says hello',
      turns: 3,
      toolCalls: 3,
      stop: { reason: 'answered' },
      usage: { inputTokens: 60, outputTokens: 21 },
    })
    expect(seen).toContain('the model calls write_file, write_todos')
    const sent = model.requests(name)
    expect(sent).toHaveLength(3)
    expect(sent[0]?.messages[0]).toMatchObject({ role: 'system', content: 'be brief' })
    expect(JSON.stringify(sent[2]?.messages.at(-1))).toContain('hello')
    expect(sent[0]?.tools).toHaveLength(10)
  })

  test('a failed call is tried again, uses up no turn, and leaves no orphan', LONG, async () => {
    const name = model.plays([{ status: 503, text: 'after all' }])
    const { id } = await service.create('me', { model: name })
    const answer = await service.prompt('me', id, { input: 'go' })
    expect(answer).toMatchObject({ response: 'after all', turns: 1 })
    expect(model.requests(name)).toHaveLength(2)
    expect(model.requests(name)[1]?.messages).toHaveLength(1)
  })

  test('an error that does not pass is told at once', LONG, async () => {
    const name = model.plays([{ status: 400, text: 'later' }])
    const { id } = await service.create('me', { model: name })
    const answer = await service.prompt('me', id, { input: 'go' })
    expect(answer).toMatchObject({ stop: { reason: 'model_failed' }, turns: 0 })
    expect(
      (await service.ask<{ count: number }>('me', id, { ask: 'messages', from: 0, bytesMax: 9 }))
        .value.count,
    ).toBe(0)
    expect(await service.prompt('me', id, { input: 'again' })).toMatchObject({ response: 'later' })
  })

  test('waitMs, wait and requestId: one run, picked up later', LONG, async () => {
    const name = script([{ text: 'slow', delayMs: 400 }])
    const { id } = await service.create('me', { model: name })
    const given = { input: 'go', waitMs: 20, requestId: 'q1' }
    const first = await service.prompt('me', id, given)
    expect(first).toMatchObject({ state: 'running' })
    const again = await service.prompt('me', id, given)
    expect(again).toMatchObject({ state: 'running', runId: (first as { runId: string }).runId })
    const done = await service.wait('me', id, (first as { runId: string }).runId)
    expect(done).toMatchObject({ state: 'ended', response: 'slow', turns: 1 })
    expect(await service.prompt('me', id, given)).toMatchObject({ response: 'slow' })
    await expect(service.wait('me', id, 'run_x')).rejects.toMatchObject({
      code: 'AGENT_RUN_MISSING',
    })
  })

  test('prompts of one requestId at once are one run', LONG, async () => {
    const name = script([{ text: 'once', delayMs: 50 }, { text: 'twice' }])
    const { id } = await service.create('me', { model: name })
    const given = { input: 'go', requestId: 'q1' }
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => service.prompt('me', id, given)),
    )
    for (const answer of answers) expect(answer).toMatchObject({ response: 'once', turns: 1 })
    const { agent } = await service.steps.standing('me', id, Date.now())
    expect(agent.summary.turnCount).toBe(1)
    await expect(service.prompt('you', id, given)).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    })
    expect(await service.prompt('me', id, { input: 'go' })).toMatchObject({ response: 'twice' })
  })

  test('a cancellation ends the run, and the model call with it', LONG, async () => {
    const name = model.plays([{ hang: true }])
    const { id } = await service.create('me', { model: name })
    const cancel = new AbortController()
    const answer = service.prompt('me', id, { input: 'go' }, undefined, cancel.signal)
    await vi.waitFor(() => expect(model.requests(name)).toHaveLength(1), LONG)
    cancel.abort()
    expect(await answer).toMatchObject({ state: 'ended', stop: { reason: 'cancelled' } })
    const { agent } = await service.steps.standing('me', id, Date.now())
    expect(agent.state).toBe('idle')
  })

  test('a limit of time falls while nothing happens', LONG, async () => {
    const name = model.plays([{ hang: true }])
    const { id } = await service.create('me', { model: name, limits: { runMs: 300 } })
    expect(await service.prompt('me', id, { input: 'go' })).toMatchObject({
      stop: { reason: 'run_time' },
    })
  })

  test('compaction sums up, counts usage, and is no turn', LONG, async () => {
    // The server goes by the answers it sees, and after compaction it sees fewer.
    const call = { toolCalls: [{ name: 'write_file', input: { path: 'f', content: '{{n}}' } }] }
    const name = model.plays(Array.from({ length: 9 }, () => call))
    const limits = { contextTokens: 15 }
    const { id } = await service.create('me', { model: name, limits })
    const answer = await service.prompt('me', id, { input: 'go', maxTurns: 8 })
    expect(answer).toMatchObject({ stop: { reason: 'run_max_turns' }, turns: 8 })
    const sums = model.requests(name).filter(({ tools }) => tools === undefined)
    expect(sums.length).toBeGreaterThan(0)
    expect(model.requests(name)).toHaveLength(8 + sums.length)
    const { usage } = answer as { usage: { totalTokens: number } }
    expect(usage.totalTokens).toBe(27 * model.requests(name).length)
    expect(JSON.stringify(model.requests(name).at(-1)?.messages)).toContain('summed up')
  })
})

test('the time and the calls of a program can be bounded at create', LONG, async () => {
  const run = async (code: object, text: string) => {
    const { id } = await service.create('me', { model: 'script:none', tools: ['count/*'], code })
    return (await service.callTool('me', id, 'run_code', { code: text })).content
  }
  expect(await run({ timeoutMs: 150 }, 'for (;;) {}')).toMatch(/150 ms|PROGRAM_FAILED/)
  // With the time of its own: on a busy machine 150 ms are over before the second call.
  const twice = 'await tools.count.read({ n: 1 }); await tools.count.read({ n: 2 })'
  expect(await run({ toolCalls: 1 }, twice)).toContain('at most 1 calls')
})

describe('pause', () => {
  test('nothing is sent until the agent is resumed; a call by a person is', LONG, async () => {
    const turns = [
      { toolCalls: [{ name: 'count__write', input: { n: 1 } }], delayMs: 200 },
      { toolCalls: [{ name: 'write_todos', input: { todos: ['x'] } }] },
      { text: 'done' },
    ]
    const { id } = await service.create('me', { model: script(turns), tools: ['count/*'] })
    const begun = await service.prompt('me', id, { input: 'go', waitMs: 0 })
    const runId = begun.state === 'running' ? begun.runId : ''
    expect(await service.pause('me', id, 'look')).toMatchObject({ state: 'paused' })
    // The model's answer is taken, the call it asks for is not made.
    const turn = async () => (await service.steps.standing('me', id, Date.now())).agent.summary
    await vi.waitFor(async () => expect(await turn()).toMatchObject({ turnCount: 1 }), 60_000)
    expect(lines(log)).toEqual([])
    await service.callTool('me', id, 'count__read', { n: 7 })
    expect(lines(log).map(({ name }) => name)).toEqual(['read'])
    const answer = service.wait('me', id, runId)
    await service.resume('me', id, {})
    expect(await answer).toMatchObject({ state: 'ended', runId, response: 'done', turns: 3 })
    expect(lines(log).map(({ name }) => name)).toEqual(['read', 'write'])
    const kinds = (await service.steps.history('me', id, 1, null)).map(({ kind }) => kind)
    expect(kinds).toContain('pause')
  })
})

describe('what comes back wrong', () => {
  test(
    'an answer the agent cannot take ends the run instead of leaving it waiting',
    LONG,
    async () => {
      const file = join(scripts, 'deep.json')
      writeFileSync(
        file,
        `{"turns":[{"toolCalls":[{"name":"write_file","input":${'['.repeat(5_000)}${']'.repeat(5_000)}}]},{"text":"done"}]}`,
      )
      const { id } = await service.create('me', { model: 'script:deep' })
      const answer = await service.prompt('me', id, { input: 'go' })
      expect(answer.state).toBe('ended')
      const { agent } = await service.steps.standing('me', id, Date.now())
      expect(agent.state).toBe('idle')
    },
  )
})

describe('models', () => {
  test('no key, no model, no provider: an error that says what to set, never an echo', async () => {
    for (const model of ['openai:gpt 4', 'openai:', 'openai:gpt\n4', `openai:${'x'.repeat(201)}`])
      await expect(service.create('me', { model })).rejects.toMatchObject({ code: 'MODEL_UNKNOWN' })
    await expect(service.create('me', { model: 'gpt' })).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
    })
    await expect(service.create('me', { model: 'acme:x' })).rejects.toThrow(/known are anthropic/)
    await expect(
      service.create('me', { model: 'script:x', limits: { maxCost: 1 } }),
    ).rejects.toMatchObject({ code: 'MODEL_PRICE_MISSING' })
  })

  test('without a key everything of an agent works but a prompt', async () => {
    const { id } = await service.create('me', { files: { 'a.txt': 'one' } })
    const { content } = await service.callTool('me', id, 'read_file', { path: 'a.txt' })
    expect(content).toContain('one')
    const todos = { todos: ['first'] }
    expect(await service.callTool('me', id, 'write_todos', todos)).toMatchObject({ isError: false })
    const code = 'return (await files.read("a.txt")) + "!"'
    expect((await service.callTool('me', id, 'run_code', { code })).content).toContain('one!')
    await expect(service.prompt('me', id, { input: 'go' })).rejects.toMatchObject({
      code: 'MODEL_KEY_MISSING',
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
    })
    expect((await service.steps.standing('me', id, Date.now())).agent.state).toBe('idle')
  })

  test(
    'a script reads nothing outside of its directory, and quotes nothing of what it is not',
    LONG,
    async () => {
      writeFileSync(join(scripts, 'secret.json'), 'TOP SECRET')
      writeFileSync(
        join(scratch, 'outside.json'),
        JSON.stringify({ turns: [{ text: 'TOP SECRET' }] }),
      )
      for (const name of ['../outside', '/etc/passwd', 'secret', 'none', '..']) {
        const { id } = await service.create('me', { model: `script:${name}` })
        const answer = await service.prompt('me', id, { input: 'go' })
        expect(answer).toMatchObject({ stop: { reason: 'model_failed' } })
        expect(JSON.stringify(answer)).not.toContain('TOP SECRET')
      }
    },
  )
})

describe('tools through the gate', () => {
  test(
    'each call carries owner, agent and effect; a denial is a result to act on',
    LONG,
    async () => {
      const name = model.plays([
        {
          toolCalls: [
            { name: 'count__write', input: { n: 1 } },
            { name: 'count__slow', input: { fate: 'deny' } },
          ],
        },
        { toolCalls: [{ name: 'count__fail', input: {} }] },
        { text: 'done' },
      ])
      const given = { model: name, tools: ['count/*'], template: 'coder' }
      const { id } = await service.create('me', given)
      expect(await service.prompt('me', id, { input: 'go' })).toMatchObject({ response: 'done' })
      expect(lines(log).map(({ name }) => name)).toEqual(['write', 'fail'])
      expect(lines(log)[0]?.effect).toContain(id)
      expect(server.calls.find(({ agent }) => agent?.id === id)).toMatchObject({
        owner: 'me',
        agent: { id, owner: 'me', template: 'coder', depth: 0 },
        server: 'count',
        tool: 'write',
        args: { n: 1 },
      })
      const results = JSON.stringify(model.requests(name)[1]?.messages)
      expect(results).toContain('write {')
      expect(results).toContain('DENIED')
    },
  )

  test('what the owner may not see cannot be given', LONG, async () => {
    const give = (owner: string, tools: string[]) =>
      service.create(owner, { model: 'script:x', tools })
    await expect(give('nobody', ['count/write'])).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
    await expect(give('me', ['other/*'])).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
    await expect(give('me', ['count'])).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
  })

  test('what an agent believes to have been given counts for nothing', LONG, async () => {
    const directory = join(scratch, 'believer')
    const models = settingsOf({}, { scripts })
    const name = script([{ toolCalls: [{ name: 'count__write', input: {} }] }, { text: 'done' }])
    let own = await Service.start({ directory, models, gate: server })
    const { id } = await own.create('me', { model: name, tools: ['count/write'] })
    await own.close()
    // As an image from elsewhere would: the guest has the tool in its list, the host gave none.
    const database = new DatabaseSync(join(directory, 'agents.db'))
    database.exec(`UPDATE agents SET grants = '[]'`)
    database.close()
    own = await Service.start({ directory, models, gate: server })
    expect(await own.prompt('me', id, { input: 'go' })).toMatchObject({ response: 'done' })
    expect(lines(log)).toEqual([])
    await own.close()
  })

  test('a held call leaves the agent waiting; the verdict wakes it', LONG, async () => {
    const name = model.plays([
      { toolCalls: [{ name: 'count__write', input: { fate: 'hold' } }] },
      { text: 'done' },
    ])
    const { id } = await service.create('me', { model: name, tools: ['count/write'] })
    const answer = service.prompt('me', id, { input: 'go' })
    await vi.waitFor(async () => {
      const { agent } = await service.steps.standing('me', id, Date.now())
      expect(agent).toMatchObject({ state: 'waiting' })
      expect(agent.summary.waitingFor).toContain('count/write')
    }, LONG)
    expect(lines(log)).toEqual([])
    server.decide(server.held.at(-1) ?? '', true)
    expect(await answer).toMatchObject({ response: 'done' })
    expect(lines(log)).toHaveLength(1)
  })
})

describe('run_code', () => {
  const code = (text: string) => ({ toolCalls: [{ name: 'run_code', input: { code: text } }] })

  test(
    'files, tools and console; each call through the gate; merged when it ends well',
    LONG,
    async () => {
      const program = `
      files.write('out/sum.txt', String(files.read('a.txt').length))
      files.write('raw.bin', new Uint8Array([0, 255, 1]))
      files.delete('b.txt')
      console.log('working', { n: 1 })
      const first = await tools.count.write({ n: 1 })
      const both = await Promise.all([tools.count.write({ n: 2 }), tools.count.read({ n: 3 })])
      const denied = await tools.count.slow({ fate: 'deny' }).catch((error) => error.code)
      return { first, both, denied, list: files.list(), same: Math.random() === Math.random() }`
      const name = script([code(program), { text: 'done' }])
      const files = { 'a.txt': 'twelve chars', 'b.txt': 'gone' }
      const { id } = await service.create('me', { model: name, tools: ['count/*'], files })
      expect(await service.prompt('me', id, { input: 'go' })).toMatchObject({ response: 'done' })
      const { value } = await service.ask<{ messages: { content: string }[] }>('me', id, {
        ask: 'messages',
        from: 0,
        bytesMax: 100_000,
      })
      const parsed = JSON.parse(value.messages[2]?.content ?? '')
      expect(parsed).toMatchObject({
        result: {
          first: 'write {"n":1}',
          both: ['write {"n":2}', 'read {"n":3}'],
          list: ['a.txt', 'out/sum.txt', 'raw.bin'],
          same: false,
        },
        logs: 'working {"n":1}\n',
        files: { deleted: ['b.txt'] },
      })
      expect(parsed.result.denied).toBe('DENIED')
      const writes = { server: 'count', tool: 'write', isError: false, count: 2 }
      expect(parsed.calls).toHaveLength(3)
      expect(parsed.calls).toContainEqual(writes)
      expect(lines(log)).toHaveLength(3)
      const sum = await service.ask('me', id, { ask: 'read', path: 'out/sum.txt' })
      expect(Buffer.from(sum.content ?? []).toString()).toBe('12')
      const raw = await service.ask('me', id, { ask: 'read', path: 'raw.bin' })
      expect([...(raw.content ?? [])]).toEqual([0, 255, 1])
    },
  )

  test(
    'held calls of a program keep their tickets over a restart, and let it go on',
    LONG,
    async () => {
      const program = `
      const held = (n) => tools.count.write({ fate: 'hold', n }).catch((error) => 'no')
      const both = await Promise.all([held(1), held(2)])
      return [...both, await tools.count.slow({})]`
      const directory = join(scratch, 'held')
      const models = settingsOf({}, { scripts })
      const before = server.held.length
      let own = await Service.start({ directory, models, gate: server })
      const { id } = await own.create('me', {
        model: script([code(program), { text: 'done' }]),
        tools: ['count/*'],
      })
      const cutOff = own.prompt('me', id, { input: 'go', waitMs: 0 })
      const agent = async () => (await own.steps.standing('me', id, Date.now())).agent
      await vi.waitFor(() => expect(server.held.length).toBe(before + 2), LONG)
      await vi.waitFor(async () => expect((await agent()).state).toBe('waiting'), LONG)
      await cutOff
      await own.close()
      own = await Service.start({ directory, models, gate: server })
      expect(await agent()).toMatchObject({ state: 'waiting' })
      expect(lines(log)).toEqual([])
      server.decide(server.held[before] ?? '', true)
      await vi.waitFor(() => expect(lines(log)).toHaveLength(1), LONG)
      // One verdict is still missing.
      expect(await agent()).toMatchObject({ state: 'waiting' })
      server.decide(server.held[before + 1] ?? '', false)
      expect(await own.wait('me', id, undefined)).toMatchObject({ response: 'done' })
      expect(server.held.length).toBe(before + 2)
      expect(lines(log).map(({ name: tool }) => tool)).toEqual(['write', 'slow'])
      const history = await own.steps.history('me', id, 1, null)
      const waits = history.flatMap(({ event }) => (event.kind === 'waiting' ? [event.on] : []))
      expect(waits.at(0)).toContain('count/write')
      expect(waits.at(-1)).toBe('')
      const [ended] = history.flatMap(({ event }) => (event.kind === 'code' ? [event.content] : []))
      expect(ended).toContain('["write {\\"fate\\":\\"hold\\",\\"n\\":1}","no","slow {}"]')
      await own.close()
    },
  )

  test('one that fails keeps nothing it wrote, and its calls stand', LONG, async () => {
    const program = `files.write('x', '1'); await tools.count.write({}); throw new Error('no luck')`
    const name = script([code(program), { text: 'done' }])
    const { id } = await service.create('me', { model: name, tools: ['count/write'] })
    await service.prompt('me', id, { input: 'go' })
    const { value } = await service.ask<unknown[]>('me', id, { ask: 'files' })
    expect(value).toEqual([])
    expect(lines(log)).toHaveLength(1)
  })

  test('called directly, and refused while another works on the files', LONG, async () => {
    const { id } = await service.create('me', { model: 'script:x', tools: ['count/slow'] })
    const slow = service.callTool('me', id, 'run_code', {
      code: 'return await tools.count.slow({})',
    })
    await vi.waitFor(() => expect(lines(log)).toHaveLength(1), LONG)
    const write = service.callTool('me', id, 'write_file', { path: 'a', content: '' })
    await expect(write).rejects.toMatchObject({ code: 'AGENT_BUSY' })
    expect(JSON.parse((await slow).content)).toMatchObject({ result: 'slow {}' })
  })
})
