// F8: what a server may put to a client: by what the client declared, by what a page's address is, by
// what a person sees of it; and how a question that nobody answers ends.

import type { JsonObject } from '@sluice/policy/values/json'
import { afterEach, describe, expect, test } from 'vitest'
import { ELICIT, type Play, playing } from '../relay/relay.test-support.ts'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { CALL_MS_MAX, CLIENT_ANSWER_MS_MAX, CLIENT_ANSWER_QUICK_MS_MAX } from './limits.ts'
import { listDeclaredCapabilities, questionFault } from './server-questions.ts'
import { readSessionHandle, writeSessionHandle } from './session-handle.ts'

const ALL = ['roots', 'sampling', 'sampling.tools', 'elicitation.form', 'elicitation.url']
const page = (url: unknown): JsonObject => ({ mode: 'url', message: 'm', url: url as string })
const codeOf = (method: string, params: JsonObject, declared: readonly string[]) =>
  questionFault(method, params, declared)?.code

describe('F8: a question reaches only a client that declared it', () => {
  test.each<[JsonObject | undefined, string[]]>([
    [undefined, []],
    [{}, []],
    [{ roots: true, sampling: 'yes', elicitation: null }, []],
    [{ roots: {}, sampling: {} }, ['roots', 'sampling']],
    [{ elicitation: {} }, ['elicitation.form']],
    [{ elicitation: { url: {} } }, ['elicitation.url']],
    [{ elicitation: { form: {}, url: {} } }, ['elicitation.form', 'elicitation.url']],
    [{ sampling: { tools: {} } }, ['sampling', 'sampling.tools']],
  ])('capabilities %j', (capabilities, declared) => {
    expect(listDeclaredCapabilities(capabilities)).toEqual(declared)
  })

  test.each<[string, JsonObject, string, number]>([
    ['roots/list', {}, 'roots', -32601],
    ['sampling/createMessage', { messages: [] }, 'sampling', -32601],
    ['sampling/createMessage', { tools: [] }, 'sampling.tools', -32602],
    ['elicitation/create', { message: 'm' }, 'elicitation.form', -32601],
    ['elicitation/create', { mode: 'form', message: 'm' }, 'elicitation.form', -32601],
    ['elicitation/create', page('https://a.example'), 'elicitation.url', -32602],
  ])('%s %j needs %s', (method, params, needed, code) => {
    expect(codeOf(method, params, [needed])).toBeUndefined()
    const others = ALL.filter((each) => each !== needed)
    expect(codeOf(method, params, others)).toBe(code)
  })

  test.each(['URL', 'page', '', 1, null])('a mode %j is none', (mode) => {
    expect(codeOf('elicitation/create', { mode, url: 'https://a.example' }, ALL)).toBe(-32602)
  })
})

describe('F8: a page to open is a plain web address', () => {
  test.each([
    'https://a.example/x?y=1#z',
    'https://xn--bcher-kva.example/',
    'http://127.0.0.1:8080/callback',
    'http://localhost:1/',
    'HTTPS://A.example/%E2%80%AE',
  ])('%s', (url) => {
    expect(codeOf('elicitation/create', page(url), ALL)).toBeUndefined()
  })

  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    ' javascript:1',
    'file:///etc/passwd',
    'data:text/html,x',
    'vbscript:x',
    'vscode://a',
    'blob:https://a',
    'http://a.example/',
    'ftp://a.example',
    '//a.example',
    '/a',
    'a.example',
    '',
    'https:',
    'https://ann@a.example',
    'https://ann:pw@a.example',
    'https://bank.example@evil.example',
    'https:\\\\a.example',
    'https:/a.example',
    'https:a.example',
    'https://a.example\\@b',

    'https://a.example/\u202e',
    'https://a.ex\u200bample',
    'https://bücher.example',
    'https://a b',
    'https://a.example/\0',
    'https://a.example/\r\nx',
    '\thttps://a.example',
    'http://127.0.0.1:7433/#code=abc',
    'https://gate.example/#c%6fde=abc',
    'https://gate.example/#?a=1&code=abc',
    'https://gate.example/x#/?code=1',
    `https://a.example/${'a'.repeat(2_048)}`,
    undefined,
    null,
    7,
    ['https://a.example'],
  ])('not %j', (url) => {
    expect(codeOf('elicitation/create', page(url), ALL)).toBe(-32602)
  })
})

test.each<[string, JsonObject]>([
  ['elicitation/create', { message: 'pay \u202e001\u202c' }],
  ['elicitation/create', { message: 'a\u200bb' }],
  ['elicitation/create', { message: 'a\u{e0041}' }],
  ['elicitation/create', { message: 'a\u001b[2Kb' }],
  ['elicitation/create', { requestedSchema: { properties: { a: { title: 'x\u2066y' } } } }],
  ['elicitation/create', { requestedSchema: { properties: { 'a\u200b': {} } } }],
  ['elicitation/create', { ...page('https://a.example'), message: '\u202e' }],
  ['sampling/createMessage', { systemPrompt: 'do\u{e0020}\u{e0061}' }],
])('F8: hidden text is refused: %s %j', (method, params) => {
  expect(questionFault(method, params, ALL)?.why).toMatch(/hidden text \(U\+/)
})

test('F8: what the client declared outlives a restart of the gate', () => {
  const inner = '["session","[\\"id\\",\\"2025-11-25\\"]"]'
  const kept = readSessionHandle(writeSessionHandle(inner, ['roots']))
  expect(kept).toEqual({ server: inner, declared: ['roots'] })
  // A name that an older gate gave.
  expect(readSessionHandle(inner)).toEqual({ server: inner, declared: [] })
})

describe('F8: over the relay', () => {
  const { play, endPlays } = playing()
  afterEach(endPlays)

  const open = async (made: Play) => made.ask('tools/call', { name: 'ask', arguments: {} })
  const toServer = (made: Play, id: string) => made.server.sent.find((each) => each.id === id)

  test('a server is told at once what the client does not take, and the client hears nothing', async () => {
    const made = play({ generation: 'session', capabilities: {} })
    await open(made)
    for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create'])
      made.server.say({ id: method, method, params: {} })
    await settled()
    for (const method of ['roots/list', 'sampling/createMessage', 'elicitation/create'])
      expect(toServer(made, method)?.error?.code).toBe(-32601)
    expect(made.received).toEqual([])
    expect(made.log.join()).toContain('did not declare `roots`')
  })

  test('nor in a result of the newer generation, nor as the error of 2025-11-25', async () => {
    const newer = play({ capabilities: { roots: {} } })
    const asked = await open(newer)
    await newer.answer('tools/call', {
      resultType: 'input_required',
      inputRequests: { a: ELICIT, b: { method: 'roots/list' } },
    })
    expect(newer.to(asked).error?.message).toContain('did not declare `elicitation.form`')
    for (const elicitations of [[page('javascript:alert(1)')], { 0: page('https://a.example') }]) {
      const session = play({ generation: 'session' })
      const id = await open(session)
      const error = { code: -32042, message: 'open', data: { elicitations } }
      session.server.say({ id: session.server.last('tools/call').id, error })
      await settled()
      expect(session.to(id).error?.code).toBe(-32603)
      expect(JSON.stringify(session.received)).not.toMatch(/javascript|a\.example/)
    }
  })

  test('a client that does not answer ends by a limit, quick where nobody has to think', async () => {
    const made = play({ generation: 'session' })
    await open(made)
    made.server.say({ id: 'r', method: 'roots/list' })
    made.server.say({ id: 'e', ...ELICIT })
    await settled()
    const nowMs = performance.now()
    made.relay.expire(nowMs + CLIENT_ANSWER_QUICK_MS_MAX - 1_000, 1e9)
    expect(toServer(made, 'r')).toBeUndefined()
    made.relay.expire(nowMs + CLIENT_ANSWER_QUICK_MS_MAX + 1_000, 1e9)
    await settled()
    expect(toServer(made, 'r')?.error?.message).toContain('`roots/list` within 30000 ms')
    expect(toServer(made, 'e')).toBeUndefined()
    made.relay.expire(nowMs + CLIENT_ANSWER_MS_MAX + 1_000, 1e9)
    await settled()
    expect(toServer(made, 'e')?.error?.message).toContain('`elicitation/create` within 600000 ms')
    const cancelled = made.received.filter(({ method }) => method === 'notifications/cancelled')
    expect(cancelled).toHaveLength(2)
  })

  test('a server that asks again and again has no more than the whole time of a call', async () => {
    const made = play({ generation: 'session' })
    const asked = await open(made)
    const startMs = performance.now()
    const askIn = async (ms: number) => {
      made.server.say({ id: `e${ms}`, ...ELICIT })
      await settled()
      made.relay.expire(startMs + ms, 1_000)
      await settled()
    }
    await askIn(2_000)
    await askIn(CALL_MS_MAX - 1_000)
    expect(made.received.find(({ id }) => id === asked)).toBeUndefined()
    await askIn(CALL_MS_MAX + 1_000)
    expect(made.to(asked).error?.message).toContain('did not answer tools/call `ask` in time')
  })

  test('progress passes only for a token of an open request, or of one that made a task', async () => {
    const made = play({ generation: 'session' })
    const progress = (progressToken: unknown) =>
      made.server.say({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    const tokens = () =>
      made.received
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params.progressToken)
    progress('mine')
    const params = { name: 'ask', arguments: {}, task: {} }
    await made.ask('tools/call', params, { meta: { progressToken: 'mine' } })
    for (const token of ['mine', 'other', 1, null, undefined, {}]) progress(token)
    expect(tokens()).toEqual(['mine'])
    await made.answer('tools/call', { task: { taskId: 't', status: 'working' } })
    progress('mine')
    await made.ask('tools/call', params, { meta: { progressToken: 'short' } })
    await made.answer('tools/call', { content: [] })
    progress('short')
    expect(tokens()).toEqual(['mine', 'mine'])
    // And the other way round.
    const notification = {
      method: 'notifications/progress',
      params: { progressToken: 'x', progress: 1 },
    }
    made.tell(notification)
    expect(made.server.sent.some(({ method }) => method === 'notifications/progress')).toBe(false)
    made.server.say({
      id: 'q',
      ...ELICIT,
      params: { ...ELICIT.params, _meta: { progressToken: 'x' } },
    })
    await settled()
    made.tell(notification)
    expect(made.server.sent.some(({ method }) => method === 'notifications/progress')).toBe(true)
  })

  test('Mcp-Param-* of a session must say what the body says, and need not be there', async () => {
    const made = play({ generation: 'session' })
    const call = (headers: Record<string, string>) =>
      made.ask('tools/call', { name: 'ask', arguments: { region: 'eu' } }, { headers })
    await call({})
    await call({ 'mcp-param-region': 'eu' })
    expect(made.server.sent.filter(({ method }) => method === 'tools/call')).toHaveLength(2)
    const unlike = await call({ 'mcp-param-region': 'us' })
    const undeclared = await call({ 'mcp-param-zone': 'eu' })
    for (const id of [unlike, undeclared]) expect(made.to(id).error?.code).toBe(-32020)
    expect(made.server.sent.filter(({ method }) => method === 'tools/call')).toHaveLength(2)
  })
})
