// A server with sessions behind a client of the stateless generation, with a server that the test plays: a
// call is one call there and as many requests here as it takes, whatever the server does meanwhile.

import type { RequestId } from '@sluice/protocol/message'
import { META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { writeNotification } from '@sluice/protocol/write-message'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { INPUT_HELD_MS, SERVER_REQUESTS_MAX } from '../../shared/limits.ts'
import { INPUT_GATHER_MS, INPUT_HELD_LENGTH_MAX, INPUT_HELD_MAX } from '../limits.ts'
import { settled } from '../scripted-link.test-support.ts'
import { ReconnectingUpstream } from '../servers/reconnecting-upstream.ts'
import type { UpstreamEvents } from '../upstream.ts'
import { AdapterBridge } from './adapter-bridge.test-support.ts'

afterEach(() => vi.useRealTimers())

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  logging: {},
  tasks: {},
}
const BEGUN = {
  protocolVersion: '2025-11-25',
  capabilities: CAPABILITIES,
  serverInfo: { name: 'older', version: '1' },
}

/** The bridge, and the relay's side of it. */
class Bridge extends AdapterBridge<ReconnectingUpstream> {
  constructor(begins = true, generations: { stateless?: boolean } = { stateless: false }) {
    super((start, { log }, events) => {
      const options = { name: 'older', clientGeneration: 'stateless', isProcess: true } as const
      const started = { start: (_: string, inside: UpstreamEvents) => start(inside), log }
      return new ReconnectingUpstream({ ...options, ...started, generations }, events)
    })
    if (begins) this.server.answers = ({ method }) => (method === 'initialize' ? BEGUN : undefined)
  }

  override ask(
    method: string,
    params: Record<string, unknown> = {},
    meta = {},
  ): Promise<RequestId> {
    const own = {
      [META.version]: STATELESS_REVISION,
      [META.client]: { name: 'newer', version: '2' },
      [META.capabilities]: { elicitation: {}, sampling: {}, roots: {}, tasks: {} },
      ...meta,
    }
    return super.ask(method, { ...params, _meta: own })
  }

  /** The server asks something on the way of a call, and the leg is answered with it. */
  async question(call: RequestId, id = 'q'): Promise<void> {
    this.server.say(
      { id, method: 'elicitation/create', params: { message: id } },
      { request: call },
    )
    await new Promise((resolve) => setTimeout(resolve, INPUT_GATHER_MS * 3))
  }

  // biome-ignore lint/suspicious/noExplicitAny: a result, taken apart by the test
  result(id: RequestId): any {
    return JSON.parse(this.to(id).result ?? 'null')
  }

  cancel(id: RequestId): void {
    const params = new Map([
      ['requestId', JSON.stringify(id)],
      ['reason', '"enough"'],
    ])
    this.link.send(writeNotification('notifications/cancelled', params))
    this.link.abort(id)
  }
}

const ANSWER = { action: 'accept', content: {} }

describe('the session', () => {
  test('begins with what the first client can, and is shown as discovered', async () => {
    const bridge = new Bridge()
    const id = await bridge.ask('server/discover')
    expect(bridge.server.last('initialize').params).toMatchObject({
      clientInfo: { name: 'newer' },
      capabilities: { elicitation: {} },
    })
    expect(bridge.server.last('initialize').params.capabilities.tasks).toBeUndefined()
    const { capabilities, _meta } = bridge.result(id)
    expect(capabilities).toEqual({ ...CAPABILITIES, tasks: undefined })
    expect(_meta[META.server]).toEqual(BEGUN.serverInfo)
    await bridge.call()
    const { params } = bridge.server.last('tools/call')
    expect(params).toEqual({ name: 'a', arguments: {} })
  })

  test('a call that is cancelled while it begins is never made', async () => {
    const bridge = new Bridge(false)
    const [gone, stays] = [await bridge.call(), await bridge.call()]
    bridge.cancel(gone)
    bridge.server.say({ id: bridge.server.last('initialize').id, result: BEGUN })
    await settled()
    expect(bridge.server.all('tools/call').map(({ id }) => id)).toEqual([stays])
  })

  test('that does not begin: everybody who waits is told, and the next tries anew', async () => {
    const generations: { stateless?: boolean } = { stateless: false }
    const bridge = new Bridge(false, generations)
    const request = await bridge.call()
    const error = { code: -32601, message: 'no sessions here' }
    bridge.server.say({ id: bridge.server.last('initialize').id, error })
    await settled()
    const message = 'the server `older` did not begin a session: no sessions here'
    expect(bridge.failures).toMatchObject([{ code: 'UPSTREAM_NOT_STARTED', message, request }])
    // It may have become another.
    expect(generations).toEqual({})
    generations.stateless = false
    await bridge.call()
    bridge.server.fail(bridge.server.last('initialize').id, 'UPSTREAM_UNREACHABLE')
    await settled()
    expect(bridge.failures[1]).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', request: 2 })
    expect(bridge.server.all('initialize')).toHaveLength(2)
  })

  test('tasks do not cross, and say so', async () => {
    const bridge = new Bridge()
    for (const id of [
      await bridge.ask('tasks/get', { taskId: 'x' }),
      await bridge.call({ task: { ttl: 1 } }),
    ])
      expect(bridge.to(id).error).toMatchObject({ code: -32601 })
    expect(bridge.server.sent.filter(({ params }) => params?.task ?? params?.taskId)).toEqual([])
  })
})

describe('a call whose server asks', () => {
  test('is answered with the question, and goes on when the client is back', async () => {
    const bridge = new Bridge()
    const first = await bridge.call()
    await bridge.question(first)
    const { resultType, inputRequests, requestState } = bridge.result(first)
    expect(resultType).toBe('input_required')
    const [[key, asked] = ['', {}]] = Object.entries(inputRequests)
    expect(asked).toEqual({ method: 'elicitation/create', params: { message: 'q' } })
    const second = await bridge.call({ requestState, inputResponses: { [key]: ANSWER } })
    expect(bridge.server.all('tools/call')).toHaveLength(1)
    expect(bridge.server.sent.at(-1)).toMatchObject({ id: 'q', result: ANSWER })
    bridge.server.say({ method: 'notifications/progress', params: { progressToken: first } })
    expect(bridge.received.at(-1)?.related).toEqual({ request: second })
    bridge.server.say({ id: first, result: { content: [] } })
    expect(bridge.result(second)).toEqual({ content: [] })
    const third = await bridge.call({ requestState, inputResponses: { [key]: ANSWER } })
    expect(bridge.to(third).error).toMatchObject({ code: -32602 })
  })

  test('an answer that is missing is asked for again', async () => {
    const bridge = new Bridge()
    const first = await bridge.call()
    await bridge.question(first)
    const { requestState } = bridge.result(first)
    const second = await bridge.call({ requestState, inputResponses: { other: ANSWER } })
    expect(bridge.result(second).inputRequests).toEqual(bridge.result(first).inputRequests)
    expect(bridge.result(second).requestState).not.toBe(requestState)
  })

  test('a second question while the first is out is not put to another call', async () => {
    const bridge = new Bridge()
    const first = await bridge.call()
    await bridge.question(first, 'one')
    const other = await bridge.call()
    await bridge.question(first, 'two')
    expect(() => bridge.to(other)).toThrow()
    const { inputRequests, requestState } = bridge.result(first)
    const [key = ''] = Object.keys(inputRequests)
    const second = await bridge.call({ requestState, inputResponses: { [key]: ANSWER } })
    expect(JSON.stringify(bridge.result(second).inputRequests)).toContain('two')
  })

  test.each([
    [
      'answers',
      (bridge: Bridge, id: RequestId) => bridge.server.say({ id, result: { content: [] } }),
    ],
    ['fails', (bridge: Bridge, id: RequestId) => bridge.server.fail(id)],
    [
      'answers with more than is kept',
      (bridge: Bridge, id: RequestId) =>
        bridge.server.say({ id, result: { x: 'x'.repeat(INPUT_HELD_LENGTH_MAX - 50) } }),
    ],
  ])('a server that %s before the client is back keeps nobody waiting', async (_, does) => {
    const bridge = new Bridge()
    const [first, other] = [await bridge.call(), await bridge.call()]
    await bridge.question(other, 'other')
    bridge.server.say({ id: other, result: { content: ['early'] } })
    await bridge.question(first)
    does(bridge, first)
    const { requestState } = bridge.result(first)
    const second = await bridge.call({ requestState })
    const end = bridge.failures.find(({ request }) => request === second)
    if (end === undefined) expect(bridge.result(second)).toEqual({ content: [] })
    const state = bridge.result(other).requestState
    expect(bridge.result(await bridge.call({ requestState: state })).content).toEqual(['early'])
  })

  test('a client that goes away on the way: the server is told, its questions are answered', async () => {
    const bridge = new Bridge()
    const first = await bridge.call()
    bridge.server.say({ id: 'q', method: 'roots/list' }, { request: first })
    bridge.cancel(first)
    await settled()
    expect(bridge.server.sent.find(({ id }) => id === 'q')?.error).toBeDefined()
    expect(bridge.server.all('notifications/cancelled')).toMatchObject([
      { params: { requestId: first, reason: 'enough' } },
    ])
    expect(bridge.server.aborted).toEqual([first])
    bridge.server.say({ id: first, result: { content: [] } })
    expect(() => bridge.to(first)).toThrow()
  })

  test('a question that was refused on the way leaves no call behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const bridge = new Bridge()
    for (let time = 0; time <= INPUT_HELD_MAX; time++) {
      const id = await bridge.call()
      bridge.server.say({ id: `q${time}`, method: 'roots/list' }, { request: id })
      vi.advanceTimersByTime(INPUT_GATHER_MS)
      await settled()
      expect(bridge.result(id).resultType).toBe('input_required')
      bridge.link.abort(id)
    }
    expect(bridge.server.all('notifications/cancelled')).toHaveLength(INPUT_HELD_MAX + 1)
  })

  test('a client that never comes back: the call is given up in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const bridge = new Bridge()
    const first = await bridge.call()
    bridge.server.say({ id: 'q', method: 'roots/list' }, { request: first })
    vi.advanceTimersByTime(INPUT_GATHER_MS)
    await settled()
    const { requestState } = bridge.result(first)
    vi.advanceTimersByTime(INPUT_HELD_MS)
    expect(bridge.server.sent.find(({ id }) => id === 'q')?.error).toBeDefined()
    expect(bridge.server.aborted).toEqual([first])
    const second = await bridge.call({ requestState })
    expect(bridge.to(second).error?.message).toContain('is over')
  })

  test('calls that wait, and questions of one call, are bounded; nothing is left at the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const bridge = new Bridge()
    const ids: RequestId[] = []
    for (let time = 0; time <= INPUT_HELD_MAX; time++) {
      const id = await bridge.call()
      ids.push(id)
      bridge.server.say({ id: `q${time}`, method: 'roots/list' }, { request: id })
      vi.advanceTimersByTime(INPUT_GATHER_MS)
    }
    await settled()
    expect(bridge.to(ids.at(-1) as RequestId).error?.message).toContain('too many')
    const greedy = await bridge.call()
    for (let at = 0; at <= SERVER_REQUESTS_MAX; at++)
      bridge.server.say({ id: `g${at}`, method: 'roots/list' }, { request: greedy })
    expect(bridge.server.sent.at(-1)).toMatchObject({ id: `g${SERVER_REQUESTS_MAX}` })
    expect(bridge.server.sent.at(-1)?.error?.message).toContain('more than')
    expect(vi.getTimerCount()).toBe(INPUT_HELD_MAX + 1)
    bridge.link.close('over')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('nobody is asked where nobody waits', async () => {
    const bridge = new Bridge()
    await bridge.ask('server/discover')
    bridge.server.say({ id: 'q', method: 'sampling/createMessage', params: {} })
    bridge.server.say({ id: 'p', method: 'ping' })
    expect(bridge.server.sent.slice(-2)).toMatchObject([
      { id: 'q', error: {} },
      { id: 'p', result: {} },
    ])
  })

  test('a page to open is a question; a resource that is not there has the number of the generation', async () => {
    const bridge = new Bridge()
    const first = await bridge.call()
    const page = { mode: 'url', url: 'https://a.example', message: 'log in', elicitationId: 'e' }
    const error = { code: -32042, message: 'first', data: { elicitations: [page] } }
    bridge.server.say({ id: first, error })
    expect(bridge.result(first)).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'page-1': { method: 'elicitation/create', params: { mode: 'url' } } },
    })
    expect(JSON.stringify(bridge.result(first))).not.toContain('elicitationId')
    const read = await bridge.ask('resources/read', { uri: 'a:b' })
    bridge.server.say({ id: read, error: { code: -32002, message: 'not there' } })
    expect(bridge.to(read).error?.code).toBe(-32602)
    const bare = await bridge.call()
    bridge.server.say({ id: bare, error: { code: -32042, message: 'x' } })
    expect(bridge.to(bare).error?.code).toBe(-32603)
  })
})

describe('subscriptions', () => {
  const listen = (bridge: Bridge, notifications: object) =>
    bridge.ask('subscriptions/listen', { notifications })
  const receivedOn = (bridge: Bridge, id: RequestId) =>
    bridge.received.flatMap(({ message, related }) =>
      message.kind === 'notification' && related?.request === id ? [message] : [],
    )

  test('are told what they will hear, and hear that', async () => {
    const bridge = new Bridge()
    const one = await listen(bridge, { toolsListChanged: true, promptsListChanged: true })
    const two = await listen(bridge, { resourceSubscriptions: ['a:/x'] })
    expect(receivedOn(bridge, one).map(({ params }) => params?.value.notifications)).toEqual([
      { toolsListChanged: true },
    ])
    expect(bridge.server.last('resources/subscribe').params).toEqual({ uri: 'a:/x' })
    bridge.server.say({ method: 'notifications/tools/list_changed' })
    for (const uri of ['a:/x', 'a:/x/part', 'a:/xy'])
      bridge.server.say({ method: 'notifications/resources/updated', params: { uri } })
    expect(receivedOn(bridge, one)).toHaveLength(2)
    expect(receivedOn(bridge, two).map(({ params }) => params?.value.uri)).toEqual([
      undefined,
      'a:/x',
      'a:/x/part',
    ])
    // The gate gets it too, regardless of who subscribed.
    const unrelated = bridge.received.filter(
      ({ message, related }) => message.kind === 'notification' && related?.request === undefined,
    )
    expect(unrelated).toHaveLength(4)
  })

  test('of one resource by two: given up with the last', async () => {
    const bridge = new Bridge()
    const one = await listen(bridge, { resourceSubscriptions: ['a:b'] })
    const two = await listen(bridge, { resourceSubscriptions: ['a:b'] })
    expect(bridge.server.all('resources/subscribe')).toHaveLength(1)
    bridge.cancel(one)
    expect(bridge.server.all('resources/unsubscribe')).toEqual([])
    bridge.cancel(two)
    expect(bridge.server.all('resources/unsubscribe')).toHaveLength(1)
    bridge.server.say({ method: 'notifications/resources/updated', params: { uri: 'a:b' } })
    expect(receivedOn(bridge, one)).toHaveLength(1)
  })
})
