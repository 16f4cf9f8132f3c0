// A server of the stateless generation behind a client with a session, with a server that the test plays:
// the client sees one call, however often the server wants to be asked.

import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest, RequestId } from '@sluice/protocol/message'
import { META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { writeError, writeNotification, writeResult } from '@sluice/protocol/write-message'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  INPUT_ROUNDS_MAX,
  LISTEN_RESOURCES_MAX,
  RESTART_FIRST_MS,
  SERVER_REQUESTS_MAX,
} from '../../shared/limits.ts'
import { INPUT_ROUND_PAUSE_MS } from '../limits.ts'
import { settled } from '../scripted-link.test-support.ts'
import { AdapterBridge } from './adapter-bridge.test-support.ts'
import { SessionOverStateless } from './session-over-stateless.ts'

afterEach(() => vi.useRealTimers())

const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: [STATELESS_REVISION],
  capabilities: {
    tools: { listChanged: true },
    extensions: { 'io.modelcontextprotocol/tasks': {}, 'com.example/x': {} },
  },
  instructions: 'be kind',
  _meta: { [META.server]: { name: 'newer', version: '2' } },
}
const FORM = { method: 'elicitation/create', params: { message: 'who?' } }

class Bridge extends AdapterBridge<SessionOverStateless> {
  constructor() {
    super((...parameters) => new SessionOverStateless(...parameters))
    this.server.answers = ({ method }) => (method === 'server/discover' ? DISCOVERED : undefined)
  }

  async begin(): Promise<RequestId> {
    const id = await this.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {}, tasks: {} },
      clientInfo: { name: 'older', version: '1' },
    })
    this.link.send(writeNotification('notifications/initialized', undefined))
    return id
  }

  /** The server's answer to the newest round of a call. */
  async answer(result: object): Promise<void> {
    this.server.say({ id: this.server.last('tools/call').id, result })
    await settled()
  }

  get questions(): JsonRpcRequest[] {
    return this.received.flatMap(({ message }) => (message.kind === 'request' ? [message] : []))
  }

  get withdrawn(): unknown[] {
    return this.received.flatMap(({ message }) =>
      message.kind === 'notification' && message.method === 'notifications/cancelled'
        ? [message.params?.value.requestId]
        : [],
    )
  }
}

describe('the session', () => {
  test('is what the server shows of itself, in the revision the client asked for', async () => {
    const bridge = new Bridge()
    const id = await bridge.begin()
    expect(JSON.parse(bridge.to(id).result ?? '')).toEqual({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true }, extensions: { 'com.example/x': {} } },
      serverInfo: { name: 'newer', version: '2' },
      instructions: 'be kind',
    })
    expect(bridge.begun).toEqual([true])
    await bridge.ask('logging/setLevel', { level: 'debug' })
    await bridge.call({ _meta: { progressToken: 7, [META.version]: 'mine' } })
    expect(bridge.server.last('tools/call').params._meta).toEqual({
      progressToken: 7,
      [META.version]: STATELESS_REVISION,
      [META.client]: { name: 'older', version: '1' },
      [META.capabilities]: { elicitation: {} },
      [META.logLevel]: 'debug',
    })
  })

  test('that cannot begin says why', async () => {
    const bridge = new Bridge()
    bridge.server.answers = () => undefined
    const id = await bridge.begin()
    bridge.server.fail(bridge.server.last('server/discover').id, 'UPSTREAM_UNREACHABLE')
    expect(bridge.failures).toMatchObject([{ request: id }])
    expect(bridge.begun).toEqual([false])
  })

  test('tasks do not cross: neither asked for, nor answered with', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const asked = [await bridge.ask('tasks/list'), await bridge.call({ task: {} })]
    for (const id of asked) expect(bridge.to(id).error?.code).toBe(-32601)
    expect(bridge.server.all('tools/call')).toEqual([])
    const id = await bridge.call()
    await bridge.answer({ resultType: 'task', taskId: 'raw' })
    expect(bridge.to(id).error?.message).toContain('task')
    expect(JSON.stringify(bridge.to(id))).not.toContain('raw')
  })

  test('of a server that asks by itself: nobody is asked', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const before = bridge.received.length
    bridge.server.say({ id: 1, method: 'roots/list' })
    expect(bridge.received).toHaveLength(before)
  })
})

describe('a call that wants input', () => {
  test('asks the client, and is made once more with the answers', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    await bridge.answer({
      resultType: 'input_required',
      inputRequests: { one: FORM, __proto__x: { method: 'roots/list' } },
      requestState: 'theirs',
    })
    const [form, roots] = bridge.questions
    expect(form).toMatchObject({ method: 'elicitation/create', params: { value: FORM.params } })
    bridge.link.send(writeResult(form?.id ?? 0, '{"action":"decline"}'))
    expect(bridge.server.all('tools/call')).toHaveLength(1)
    bridge.link.send(writeResult(roots?.id ?? 0, '{"roots":[]}'))
    const again = bridge.server.last('tools/call')
    expect(again.params).toMatchObject({
      name: 'a',
      requestState: 'theirs',
      inputResponses: { one: { action: 'decline' }, __proto__x: { roots: [] } },
    })
    expect(again.id).not.toBe(id)
    await bridge.answer({ resultType: 'complete', content: [] })
    expect(bridge.to(id).result).toContain('content')
    expect(bridge.withdrawn).toEqual([])
  })

  test('in escapes is recognised too', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    const { id: round } = bridge.server.last('tools/call')
    const inner = `"inputRequests":${JSON.stringify({ a: FORM })},"x":{"resultType":"complete"}`
    bridge.server.say(
      `{"jsonrpc":"2.0","id":${round},"result":{"resultType":"input\\u005frequired",${inner}}}`,
    )
    expect(bridge.questions).toHaveLength(1)
    expect(() => bridge.to(id)).toThrow()
  })

  test('to open a page: with the id that a session has for it', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    await bridge.call()
    const params = { mode: 'url', url: 'https://a.example', message: 'log in' }
    const page = { method: 'elicitation/create', params }
    await bridge.answer({ resultType: 'input_required', inputRequests: { page } })
    expect(bridge.questions[0]?.params?.value).toMatchObject({
      ...params,
      elicitationId: expect.stringMatching(/^[\w-]{36}$/),
    })
  })

  test('one answer that is refused ends the call, and the other questions', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    const inputRequests = { one: FORM, two: FORM }
    await bridge.answer({ resultType: 'input_required', inputRequests })
    const [one, two] = bridge.questions
    bridge.link.send(writeError(one?.id ?? 0, -31001, 'denied by policy'))
    expect(bridge.to(id).error?.message).toContain('denied by policy')
    expect(bridge.withdrawn).toEqual([two?.id])
    bridge.link.send(writeResult(two?.id ?? 0, '{"action":"accept"}'))
    expect(bridge.server.all('tools/call')).toHaveLength(1)
  })

  test('where the first is refused at once, the rest is not asked', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    await bridge.call()
    const { hear } = bridge
    bridge.hear = (message, related) => {
      hear(message, related)
      if (message.kind === 'request')
        bridge.link.send(writeError(message.id, -31001, 'denied by policy'))
    }
    await bridge.answer({ resultType: 'input_required', inputRequests: { a: FORM, b: FORM } })
    expect(bridge.questions).toHaveLength(1)
  })

  test.each([
    ['too many at once', Array.from({ length: SERVER_REQUESTS_MAX + 1 }, () => FORM)],
    ['nothing that has a name', [{ params: {} }]],
    ['no object', [7]],
  ])('asks %s: the call ends, nobody is asked', async (_, questions) => {
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    const inputRequests = Object.fromEntries(questions.map((each, at) => [`q${at}`, each]))
    await bridge.answer({ resultType: 'input_required', inputRequests })
    expect(bridge.to(id).error).toBeDefined()
    expect(bridge.questions).toEqual([])
  })

  test('for ever: as many rounds as the bound says', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    for (let round = 0; round <= INPUT_ROUNDS_MAX; round++) {
      await bridge.answer({ resultType: 'input_required', requestState: `${round}` })
      vi.advanceTimersByTime(INPUT_ROUND_PAUSE_MS)
    }
    expect(bridge.to(id).error?.message).toContain(`more than ${INPUT_ROUNDS_MAX}`)
    expect(bridge.server.all('tools/call')).toHaveLength(INPUT_ROUNDS_MAX + 1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('and is given up by the client: the present round is ended, questions are withdrawn', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    await bridge.answer({ resultType: 'input_required', inputRequests: { a: FORM } })
    bridge.link.send(writeResult(bridge.questions[0]?.id ?? 0, '{"action":"accept"}'))
    const round = bridge.server.last('tools/call').id
    await bridge.answer({ resultType: 'input_required', inputRequests: { a: FORM } })
    const params = new Map([['requestId', JSON.stringify(id)]])
    bridge.link.send(writeNotification('notifications/cancelled', params))
    bridge.link.abort(id)
    expect(bridge.server.aborted).toEqual([round])
    expect(bridge.server.all('notifications/cancelled')[0]?.params.requestId).toBe(round)
    expect(bridge.withdrawn).toEqual([bridge.questions[1]?.id])
    await bridge.answer({ resultType: 'complete', content: [] })
    expect(() => bridge.to(id)).toThrow()
  })

  test('whose later round fails: the client reads it of its own call', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    const id = await bridge.call()
    await bridge.answer({ resultType: 'input_required', inputRequests: { a: FORM } })
    bridge.link.send(writeResult(bridge.questions[0]?.id ?? 0, '{"action":"accept"}'))
    const { id: round } = bridge.server.last('tools/call')
    const related = { request: round }
    bridge.server.say({ method: 'notifications/message', params: { data: 1 } }, related)
    expect(bridge.received.at(-1)?.related).toEqual({ request: id })
    bridge.server.fail(round)
    expect(bridge.failures).toMatchObject([{ request: id }])
  })
})

describe('the stream of changes', () => {
  const listens = (bridge: Bridge) => bridge.server.all('subscriptions/listen')

  test('is one subscription, opened anew before the old one ends', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    expect(listens(bridge)[0]?.params.notifications).toEqual({ toolsListChanged: true })
    const id = await bridge.ask('resources/subscribe', { uri: 'a:b' })
    expect(bridge.to(id).result).toBe('{}')
    expect(listens(bridge)[1]?.params.notifications).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['a:b'],
    })
    expect(bridge.server.aborted).toEqual([listens(bridge)[0]?.id])
    const _meta = { [META.subscription]: 'listen-2' }
    bridge.server.say({ method: 'notifications/resources/updated', params: { uri: 'a:b', _meta } })
    const { message } = bridge.received.at(-1) ?? {}
    expect(message).toMatchObject({ params: { value: { uri: 'a:b' } } })
    expect(JSON.stringify(message)).not.toContain('"_meta":{"io')
    await bridge.ask('resources/unsubscribe', { uri: 'a:b' })
    expect(listens(bridge)).toHaveLength(3)
  })

  test('is opened again where the server ends it, more and more patiently', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const bridge = new Bridge()
    await bridge.begin()
    const end = () => bridge.server.fail(bridge.server.last('subscriptions/listen').id)
    end()
    vi.advanceTimersByTime(RESTART_FIRST_MS)
    expect(listens(bridge)).toHaveLength(2)
    end()
    vi.advanceTimersByTime(RESTART_FIRST_MS)
    expect(listens(bridge)).toHaveLength(2)
    vi.advanceTimersByTime(RESTART_FIRST_MS)
    expect(listens(bridge)).toHaveLength(3)
    bridge.server.say({ method: 'notifications/subscriptions/acknowledged' })
    bridge.server.say({ id: bridge.server.last('subscriptions/listen').id, result: {} })
    vi.advanceTimersByTime(RESTART_FIRST_MS)
    expect(listens(bridge)).toHaveLength(4)
    // As a server over lines ends it.
    bridge.server.say({ method: 'notifications/subscriptions/acknowledged' })
    const requestId = bridge.server.last('subscriptions/listen').id
    bridge.server.say({ method: 'notifications/cancelled', params: { requestId } })
    vi.advanceTimersByTime(RESTART_FIRST_MS)
    expect(listens(bridge)).toHaveLength(5)
    bridge.link.close('over')
    expect(vi.getTimerCount()).toBe(0)
    expect(bridge.failures).toEqual([])
  })

  test('is not asked for again where the server has none', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const bridge = new Bridge()
    await bridge.begin()
    const error = { code: -32601, message: 'no such method' }
    bridge.server.say({ id: bridge.server.last('subscriptions/listen').id, error })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('of so many resources and no more', async () => {
    const bridge = new Bridge()
    await bridge.begin()
    for (let at = 0; at < LISTEN_RESOURCES_MAX; at++) bridge.link.send('', subscribe(at))
    await settled()
    const id = await bridge.ask('resources/subscribe', { uri: 'one:more' })
    expect(bridge.to(id).error?.message).toContain(`more than ${LISTEN_RESOURCES_MAX}`)
  })
})

function subscribe(at: number) {
  const params = withMembers(undefined, { uri: JSON.stringify(`a:${at}`) })
  return { passing: { id: `s${at}`, method: 'resources/subscribe', params } }
}
