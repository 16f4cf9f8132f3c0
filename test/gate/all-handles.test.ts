// Several servers of a kind behind `/mcp`, all with the same handles: names, ids, tokens, tasks and
// resources find the one server they are of, what one does is nobody else's, and what is hidden is as
// unknown as what no server has.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Heard, pipeTo } from '../support/line-pipe.ts'
import { serveGate } from '../support/own-gate.ts'
import { PlainClient } from '../support/plain-client.ts'
import { type RealClient, throughGate } from '../support/real-client.ts'
import { endGates, fixture, type ServingGate, until } from '../support/start-gate.ts'
import { listenStateless, postStateless } from '../support/stateless-client.ts'

const ALL = ''
const LONG = 'a_tool_with_a_name_that_is_much_longer_than_what_model_providers_take'
const servers = {
  a: fixture('clerk', 'a'),
  b: fixture('clerk', 'b'),
  old: fixture('clerk', 'old'),
}
const POLICY = `
version: 1
default: allow
tools: { "*/get_hidden": hide, "*/get_hidden_${LONG}": hide }
prompts: { "*/hidden": hide }
resources: { "*/mem://hidden": hide, "*/*://7": hide, "old/*{id}": hide }
labels: { a/whoami: [private] }
guardrails:
  - name: private data stays in
    match: { tools: [b/count] }
    when: session.saw.private
    action: deny
    reason: it has read private data
`

let gate: ServingGate
let plain: PlainClient
let real: RealClient

beforeAll(async () => {
  gate = await serveGate({ servers, policy: POLICY })
  ;[plain, real] = await Promise.all([PlainClient.open(gate, ALL), throughGate(gate, ALL)])
}, 180_000)
afterAll(endGates)

const textOf = (result: object | undefined): string =>
  (result as { content?: { text: string }[] } | undefined)?.content?.[0]?.text ?? ''

/** Under an id of the test's own, so that answers can be compared by the byte. */
async function exactly(method: string, params: object): Promise<string> {
  const { text } = await plain.post(JSON.stringify({ jsonrpc: '2.0', id: 'x', method, params }))
  return text
}

describe('beginning', () => {
  test('a revision that nobody knows is answered with one that is known', async () => {
    const client = new PlainClient(gate, ALL)
    const { answer } = await client.initialize('2099-01-01')
    expect(answer.result.protocolVersion).toBe('2025-11-25')
    const again = await client.ask('initialize', { protocolVersion: '2025-11-25' })
    expect(again.answer.error.message).toBe('the session has begun already')
    await client.end()
  })

  test('batches are taken where the revision has them, whatever the servers speak', async () => {
    const batch = JSON.stringify(
      ['a', 'old'].map((server, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: `${server}__get` },
      })),
    )
    expect((await plain.post(batch)).status).toBe(400)
    const client = await PlainClient.open(gate, ALL, '2025-03-26')
    const { text } = await client.post(batch)
    expect([/a: \{/.test(text), /old: \{/.test(text)]).toEqual([true, true])
    await client.end()
  })
})

describe('names', () => {
  test('a shortened one means what it was given out for, also to who has not listed', async () => {
    const { answer } = await plain.ask('tools/list')
    const long = (answer.result.tools as { name: string }[]).filter(
      ({ name }) => name.startsWith('b__a_tool_with') && name.length === 64,
    )
    expect(long).toHaveLength(2)
    const fresh = await PlainClient.open(gate, ALL)
    for (const [at, { name }] of long.entries()) {
      const called = await fresh.call(name)
      expect(textOf(called.answer.result)).toContain(`b: {"tool":"${LONG}_${at + 1}"`)
    }
    await fresh.end()
  })

  test.each([
    'a__get_hidden',
    'a__no_such_tool',
    `b__get_hidden_${LONG}`,
    'nobody__tool',
    'a__',
    '__',
    'nothing',
    '',
  ])('a hidden one is answered as one that no server has: %s', async (name) => {
    const error = { code: -32602, message: `Unknown tool: ${name}` }
    expect(await exactly('tools/call', { name, arguments: {} })).toBe(
      JSON.stringify({ jsonrpc: '2.0', id: 'x', error }),
    )
  })

  test('arguments arrive as they were written, under the name that the server knows', async () => {
    const args = '{"big":12345678901234567890,"f":1.50,"x":"\\u0061"}'
    const { text } = await plain.post(
      `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a__line","arguments":${args}}}`,
    )
    const line = JSON.parse(textOf(JSON.parse(text).result).slice('a: '.length))
    expect(line).toContain(`"params":{"name":"line","arguments":${args}}`)
  })

  test('a cursor that nobody gave out is refused', async () => {
    for (const cursor of ['x', '8', Buffer.from('prompts/list 0').toString('base64url'), 5]) {
      const { answer } = await plain.ask('tools/list', { cursor })
      expect(answer.error).toMatchObject({ code: -32602 })
    }
  })
})

describe('handles', () => {
  test('ids and tokens of a server come back to that server', async () => {
    const asked = await Promise.all(
      ['a', 'b'].map((server) => real.client.callTool({ name: `${server}__ask`, arguments: {} })),
    )
    expect(asked.map(textOf)).toEqual([
      expect.stringMatching(/^a: .*a-root/),
      expect.stringMatching(/^b: .*a-root/),
    ])
    const { say, heard, answerTo } = await pipeTo(gate)
    say({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: { roots: {} } },
    })
    await answerTo(1)
    say({ id: 2, method: 'tools/call', params: { name: 'b__ask' } })
    const asks = ({ method }: Heard) => method === 'roots/list'
    await until(() => heard.some(asks))
    const question = heard.find(asks)
    expect(question?.id).toMatch(/^b:/)
    expect(question?.params?._meta).toEqual({
      progressToken: 'b:1',
      'io.modelcontextprotocol/related-task': { taskId: 'b:t-1' },
    })
    for (const progressToken of ['b:1', 'nobody:1', 'b:', 1])
      say({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    for (const id of ['a:"sluice-1"', 'b:"sluice-99"', 'b:x', 1]) say({ id, result: { forged: 1 } })
    say({ id: question?.id, result: { roots: [] } })
    const { result } = await answerTo(2)
    expect(textOf(result)).toBe('b: {"result":{"roots":[]},"progress":[1]}')
  })

  test('tasks belong to the server that made them', async () => {
    for (const server of ['a', 'b']) {
      const made = await plain.ask('tools/call', { name: `${server}__work`, task: { ttl: 1 } })
      const { taskId } = made.answer.result.task
      expect(taskId).toBe(`${server}:t-1`)
      const { answer } = await plain.ask('tasks/get', { taskId })
      expect(answer.result).toMatchObject({ taskId, owner: server })
      const result = await plain.ask('tasks/result', { taskId })
      expect(textOf(result.answer.result)).toBe(`${server}: "done"`)
      expect(result.text).toContain(`"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}`)
    }
    const { answer } = await plain.ask('tasks/list')
    const ids = (answer.result.tasks as { taskId: string }[]).map(({ taskId }) => taskId)
    expect(ids).toEqual(['a:t-1', 'b:t-1'])
    for (const taskId of ['t-1', 'old:t-1', 'nobody:t-1', 'a:t-others', 5]) {
      const other = await plain.ask('tasks/get', { taskId })
      expect(other.answer.error).toEqual({ code: -32602, message: 'Task not found' })
    }
  })

  test("a resource goes to the one server that has it; one that two have is nobody's", async () => {
    const read = (uri: string) => exactly('resources/read', { uri })
    expect(await read('mem://b')).toContain('"text":"b"')
    expect(await read('a://9')).toContain('"text":"a"')
    const unknown = await read('mem://nobody')
    expect(unknown).toContain('Resource not found: mem://nobody')
    expect((await read('mem://hidden')).replace('mem://hidden', 'mem://nobody')).toBe(unknown)
    for (const uri of ['mem://both', 'both://1'])
      expect(await read(uri)).toContain(
        `not found: ${uri}; several servers have it: ask at \`/mcp/a\` or \``,
      )
    const argument = { name: 'x', value: '' }
    const ref = { type: 'ref/resource', uri: 'both://{id}' }
    const { answer } = await plain.ask('completion/complete', { ref, argument })
    expect(answer.error.message).toContain('several servers have it')
  })

  test('what two servers list alike is in no list: it cannot be read here', async () => {
    const { resources } = (await plain.ask('resources/list')).answer.result
    const uris = resources.map(({ uri }: { uri: string }) => uri)
    expect(uris).toContain('mem://a')
    expect(uris).not.toContain('mem://both')
    const { resourceTemplates } = (await plain.ask('resources/templates/list')).answer.result
    const templates = resourceTemplates.map((each: { uriTemplate: string }) => each.uriTemplate)
    expect(templates).toContain('a://{id}')
    expect(templates).not.toContain('both://{id}')
  })

  test('subscriptions, completions and log levels find their server', async () => {
    const { messages } = await plain.ask('resources/subscribe', { uri: 'mem://a' })
    expect(messages[0].params).toEqual({ uri: 'mem://a' })
    const complete = async (ref: object) => {
      const argument = { name: 'x', value: '' }
      return (await plain.ask('completion/complete', { ref, argument })).answer
    }
    const prompt = await complete({ type: 'ref/prompt', name: 'b__greet' })
    expect(prompt.result.completion.values).toEqual(['b', '{"type":"ref/prompt","name":"greet"}'])
    const template = await complete({ type: 'ref/resource', uri: 'a://{id}' })
    expect(template.result.completion.values[0]).toBe('a')
    const none = await complete({ type: 'ref/prompt', name: 'x' })
    expect(none.error.message).toBe('Unknown prompt: x')
    expect((await plain.ask('logging/setLevel', { level: 'error' })).answer.result).toEqual({})
    for (const server of ['a', 'old'])
      expect(textOf((await plain.call(`${server}__get`)).answer.result)).toContain(
        '"level":"error"',
      )
  })

  test('a changed list is told once, until the client lists again', async () => {
    const { client, notifications } = real
    const changes = () => notifications.filter(({ method }) => method.endsWith('list_changed'))
    await Promise.all([client.listTools(), client.listPrompts(), client.listResources()])
    const before = changes().length
    await client.callTool({ name: 'a__change', arguments: {} })
    await client.callTool({ name: 'b__change', arguments: {} })
    await until(() => changes().length - before === 3)
    await client.listTools()
    await client.callTool({ name: 'a__change', arguments: {} })
    await until(() => changes().length - before === 4)
    expect(changes().at(-1)?.method).toBe('notifications/tools/list_changed')
  })

  test('a server cannot make progress in a call to another, and a cancellation finds its own', async () => {
    const wait = { name: 'a__wait', _meta: { progressToken: 'mine' } }
    const body = { jsonrpc: '2.0', id: 'waiting', method: 'tools/call', params: wait }
    const waiting = plain.post(JSON.stringify(body))
    const reply = await plain.call('b__forge', { progressToken: 'mine' })
    expect(reply.messages).toHaveLength(1)
    await until(() => gate.log.includes('progress for a token that no open request has'))
    const reason = 'no longer wanted'
    await plain.tell('notifications/cancelled', { requestId: 'waiting', reason })
    expect((await waiting).messages).toEqual([])
    const cancelled = async (server: string) =>
      textOf((await plain.call(`${server}__get`)).answer.result).includes(reason)
    await until(() => cancelled('a'))
    expect(await cancelled('b')).toBe(false)
  })
})

describe('one session', () => {
  test('what was read from one server counts when another is called', async () => {
    const client = await PlainClient.open(gate, ALL)
    await client.call('a__whoami')
    const { answer } = await client.call('b__count')
    expect(textOf(answer.result)).toBe('denied by policy: it has read private data')
    await client.end()
  })

  test('a server that dies is begun anew, and the next call is told what is gone', async () => {
    const { client, notifications, close } = await throughGate(gate, ALL)
    const count = () => client.callTool({ name: 'a__count', arguments: {} })
    expect([textOf(await count()), textOf(await count())]).toEqual(['a: 1', 'a: 2'])
    await expect(client.callTool({ name: 'a__die', arguments: {} })).rejects.toThrow('code 3')
    await until(() => notifications.some(({ method }) => method.includes('tools/list_changed')))
    expect(textOf(await client.callTool({ name: 'old__count', arguments: {} }))).toBe('old: 1')
    await until(async () => {
      const why = await count().then(textOf, (error: Error) => error.message)
      return why.includes('its state of this session is lost')
    }, 60_000)
    expect(textOf(await count())).toBe('a: 1')
    await close()
  })

  test('pipes and sessions of all servers are under the bound of processes', async () => {
    const own = await serveGate({
      servers: { sleeper: { command: ['sleep', '1000'] }, clerk: fixture('clerk', 'clerk') },
      config: { processes: { max: 2, wait: '1s' } },
    })
    const params = { protocolVersion: '2025-11-25', capabilities: {} }
    const pipes = await Promise.all(Array.from({ length: 3 }, () => pipeTo(own, 'sleeper')))
    for (const { say } of pipes) say({ id: 1, method: 'initialize', params })
    const isRefused = ({ heard }: (typeof pipes)[number]) =>
      heard.some(({ error }) => error?.message.startsWith('all 2 processes of servers are in use'))
    await until(() => pipes.some(isRefused))
    expect(pipes.filter(isRefused)).toHaveLength(1)
    const refused = await new PlainClient(own, 'clerk').initialize()
    expect(refused.answer.error.message).toContain('raise `processes: { max }`')
    const { answer } = await new PlainClient(own, ALL).initialize()
    expect(answer.result.instructions).toBe('Not there at the moment: sleeper, clerk.')
    expect(own.log).toMatch(/all 2 processes of servers are in use.*server=clerk/)
  })
})

describe('a hidden prompt or resource cannot be told from one that no server has', () => {
  const KNOWN: [string, object][] = [
    ['prompts/get', { name: 'hidden' }],
    ['resources/read', { uri: 'mem://hidden' }],
    ['resources/read', { uri: 'a://7' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'hidden' } }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'mem://hidden' } }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'a://7' } }],
  ]
  const OF_SESSIONS: [string, object][] = [
    ['resources/subscribe', { uri: 'mem://hidden' }],
    ['resources/unsubscribe', { uri: 'mem://hidden' }],
  ]
  /** The same for what is not there, and its answer as if it had been asked by the other name. */
  const absent = (params: object): object =>
    JSON.parse(JSON.stringify(params).replace('hidden', 'absent').replace('a://7', 'a://none'))
  const back = (text: string) => text.replaceAll('absent', 'hidden').replaceAll('a://none', 'a://7')
  const argument = { name: 'x', value: '' }
  const named = (params: object, prefix: string): object =>
    JSON.parse(
      JSON.stringify({ ...params, argument }).replace(/"name":"(?!x)/, `"name":"${prefix}`),
    )

  test.each([
    ['a', ''],
    [ALL, 'a__'],
  ])('at %j, in either generation', async (server, prefix) => {
    const session = await PlainClient.open(gate, server)
    const readUpdates = async () => {
      const { answer } = await session.call(`${prefix}heard`)
      return JSON.parse(textOf(answer.result).slice('a: '.length)) as string[]
    }
    await readUpdates()
    const ofSession = async (method: string, params: object) => {
      const body = { jsonrpc: '2.0', id: 7, method, params }
      return (await session.post(JSON.stringify(body))).text
    }
    const ofNone = async (method: string, params: object) =>
      (await postStateless(gate, server, method, params as Record<string, unknown>)).text
    for (const [method, params] of [...KNOWN, ...OF_SESSIONS]) {
      const asks = KNOWN.some(([each]) => each === method) ? [ofSession, ofNone] : [ofSession]
      for (const ask of asks) {
        const hidden = await ask(method, named(params, prefix))
        const unknown = await ask(method, named(absent(params), prefix))
        expect(hidden).toContain('"error"')
        expect(hidden).toMatch(/Unknown prompt|Resource not found/)
        expect(back(unknown)).toBe(hidden)
      }
    }
    // Only what fits a template has to be asked for, and of that nothing hidden.
    expect(new Set(await readUpdates())).toEqual(new Set(['a://none']))
    await session.end()
  })

  test('a template that is hidden fits nothing, and what may be read is read', async () => {
    const session = await PlainClient.open(gate, 'old')
    const read = (uri: string) => session.ask('resources/read', { uri })
    expect((await read('old://5')).answer.error.message).toBe('Resource not found: old://5')
    expect((await read('mem://old')).answer.result.contents).toHaveLength(1)
    expect(
      (await session.ask('prompts/get', { name: 'greet' })).answer.result.messages,
    ).toHaveLength(1)
    await session.end()
  })

  test('a subscription leaves out both', async () => {
    const resourceSubscriptions = ['mem://hidden', 'mem://absent', 'mem://a']
    const { received, close } = await listenStateless(gate, 'a', { resourceSubscriptions })
    await until(() => received.length > 0)
    expect(received[0].params.notifications).toEqual({ resourceSubscriptions: ['mem://a'] })
    close()
  })
})
