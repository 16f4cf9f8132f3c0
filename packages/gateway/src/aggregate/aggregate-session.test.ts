// All servers at the seam of links, with time as the test says: names and routing for any tools,
// pages, servers that are late, never answer, or end.

import type { RequestId } from '@sluice/protocol/message'
import { writeError } from '@sluice/protocol/write-message'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import {
  MEMBER_BEGIN_MS_MAX,
  MEMBER_LIST_LENGTH_MAX,
  MEMBER_WAIT_MS_MAX,
  MERGED_PAGE_LENGTH_MAX,
  OWN_QUESTION_MS_MAX,
  RESTART_FIRST_MS,
  SESSION_REQUESTS_MAX,
} from '../shared/limits.ts'
import {
  AllServersClient,
  begun,
  type Server,
  toolServer,
} from './aggregate-session.test-support.ts'

// Turns of the event loop are real: slices of one test must not wait for those of another.
beforeEach(
  () =>
    void vi.useFakeTimers({
      toNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'],
    }),
)
afterEach(() => void vi.useRealTimers())

async function settle(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  await vi.advanceTimersByTimeAsync(0)
}

async function begin(servers: Record<string, Server>): Promise<AllServersClient> {
  const client = new AllServersClient(servers)
  client.ask('initialize', { protocolVersion: '2025-11-25' })
  await settle()
  return client
}

async function answered(client: AllServersClient, method: string, params: object = {}) {
  const id = client.ask(method, params)
  await settle()
  // A long list takes as many slices as the machine needs for it.
  for (let turn = 0; turn < 500 && client.answerTo(id) === undefined; turn++) await settle()
  return client.answerTo(id)
}

const namesOf = (list: { result?: { tools: { name: string }[] } } | undefined): string[] =>
  list?.result?.tools.map(({ name }) => name) ?? []

describe('names', () => {
  const name = fc
    .tuple(fc.stringMatching(/^[a_-]{0,8}$/), fc.nat(70), fc.stringMatching(/^[ab_]{0,3}$/))
    .map(([head, fill, tail]) => head + 'x'.repeat(fill) + tail)
  const names = fc.uniqueArray(name, { minLength: 1, maxLength: 12 })
  const servers = fc.dictionary(fc.stringMatching(/^[a-z0-9-]{1,24}$/), names, {
    minKeys: 1,
    maxKeys: 4,
    noNullPrototype: true,
  })

  test('each one given out reaches the tool it was given out for, and no two are equal', async () => {
    await fc.assert(
      fc.asyncProperty(servers, fc.integer({ min: 1, max: 5 }), async (tools, pageSize) => {
        const made = Object.entries(tools).map(
          ([server, each]) => [server, toolServer(each, pageSize)] as const,
        )
        const client = await begin(Object.fromEntries(made))
        const given = namesOf(await answered(client, 'tools/list'))
        const meant = Object.entries(tools).flatMap(([server, each]) =>
          each.map((tool) => ({ server, tool })),
        )
        expect(given).toHaveLength(meant.length)
        expect(new Set(given).size).toBe(given.length)
        for (const [at, called] of given.entries()) {
          const { server, tool } = meant[at] as (typeof meant)[number]
          expect(called.length).toBeLessThanOrEqual(64)
          expect((await answered(client, 'tools/call', { name: called }))?.result).toEqual({
            called: tool,
          })
          expect(client.got.at(-1)?.server).toBe(server)
        }
      }),
      runs(60),
    )
  })

  test('a name that says nothing of a server reaches none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 70 }), async (called) => {
        const client = await begin({ a: toolServer(['x']) })
        const before = client.got.length
        const answer = await answered(client, 'tools/call', { name: called })
        fc.pre(!called.startsWith('a__'))
        expect(answer?.error).toEqual({ code: -32602, message: `Unknown tool: ${called}` })
        expect(client.got).toHaveLength(before)
      }),
    )
  })

  test.each([
    [{ method: 'tools/call', name: 'x' }, 'Unknown tool: a__x'],
    [
      { method: 'tools/call', name: 'x', doubt: 'not all is known' },
      'Unknown tool: a__x; not all is known',
    ],
    [undefined, 'Unknown tool: x'],
  ])('one that is not found is answered as it was asked for: %j', async (notFound, message) => {
    const silent: Server = (method) => (method === 'initialize' ? begun({ tools: {} }) : undefined)
    const client = await begin({ a: silent })
    const id = client.ask('tools/call', { name: 'a__x' })
    await settle()
    const request = client.got.at(-1)?.request.id as RequestId
    const text = writeError(request, -32602, 'Unknown tool: x')
    client.links.get('a')?.send(text, { request, answers: true, notFound })
    expect(client.answerTo(id)?.error).toEqual({ code: -32602, message })
  })

  test('a large list comes in pages, with every tool once', async () => {
    const long = 'y'.repeat(100_000)
    const tools = Array.from({ length: 100 }, (_, at) => ({ name: `t${at}`, description: long }))
    const server: Server = (method) =>
      method === 'initialize' ? begun({ tools: {} }) : { tools: tools.slice(0, 80) }
    const client = await begin({ a: server, b: server })
    const seen: string[] = []
    let pages = 0
    for (let params = {}; pages < 100; pages++) {
      const list = await answered(client, 'tools/list', params)
      expect(JSON.stringify(list).length).toBeLessThan(MERGED_PAGE_LENGTH_MAX + 2 * long.length)
      seen.push(...namesOf(list))
      const { nextCursor } = list?.result ?? {}
      if (nextCursor === undefined) break
      params = { cursor: nextCursor }
    }
    expect(pages).toBeGreaterThan(1)
    expect(seen).toHaveLength(160)
    expect(new Set(seen).size).toBe(160)
  })
})

describe('servers that take their time', () => {
  const never: Server = () => undefined

  test('a session begins without one, and hears when it has come', async () => {
    const client = new AllServersClient({ a: toolServer(['x']), late: never })
    const id = client.ask('initialize', { protocolVersion: '2025-06-18' })
    await settle(MEMBER_WAIT_MS_MAX - 1)
    expect(client.answerTo(id)).toBeUndefined()
    await settle(1)
    const { result } = client.answerTo(id) ?? {}
    expect(result.protocolVersion).toBe('2025-06-18')
    expect(result.capabilities).toHaveProperty('prompts')
    expect(result.instructions).toBe('Not there at the moment: late.')
    client.say({ method: 'notifications/initialized' })
    const opening = client.got.find(({ server }) => server === 'late')?.request
    const answer = JSON.stringify({
      jsonrpc: '2.0',
      id: opening?.id,
      result: begun({ prompts: {} }),
    })
    client.links.get('late')?.send(answer, { request: opening?.id as string, answers: true })
    await settle()
    const methods = client.received.flatMap(({ method }) => method ?? [])
    expect(methods).toEqual(['notifications/prompts/list_changed'])
  })

  test('the first list waits for one, the second does not; after a minute it is given up', async () => {
    const client = new AllServersClient({ a: toolServer(['x']), late: never })
    client.ask('initialize', {})
    await settle(MEMBER_WAIT_MS_MAX)
    const first = client.ask('tools/list')
    await settle(MEMBER_WAIT_MS_MAX - 1)
    expect(client.answerTo(first)).toBeUndefined()
    await settle(1)
    expect(namesOf(client.answerTo(first))).toEqual(['a__x'])
    expect(namesOf(await answered(client, 'tools/list'))).toEqual(['a__x'])
    await settle(MEMBER_BEGIN_MS_MAX)
    expect(client.log.join()).toContain('late: it is not there for a client of all servers')
  })

  test('one that does not list is left out, and the client hears when it has', async () => {
    let isSlow = true
    const slow: Server = (method) =>
      method === 'initialize'
        ? begun({ tools: {} })
        : isSlow
          ? undefined
          : { tools: [{ name: 's' }] }
    const client = await begin({ a: toolServer(['x']), slow })
    const id = client.ask('tools/list')
    await settle(MEMBER_WAIT_MS_MAX)
    expect(namesOf(client.answerTo(id))).toEqual(['a__x'])
    expect(namesOf(await answered(client, 'tools/list'))).toEqual(['a__x'])
    isSlow = false
    await settle(OWN_QUESTION_MS_MAX)
    expect(client.received.at(-1)?.method).toBe('notifications/tools/list_changed')
    expect(namesOf(await answered(client, 'tools/list'))).toEqual(['a__x', 'slow__s'])
  })

  test('F6: one that lists without end is cut, and that is said', async () => {
    const endless: Server = (method) =>
      method === 'initialize'
        ? begun({ tools: {} })
        : { tools: [{ name: 'x'.repeat(400_000) }], nextCursor: 'on' }
    const client = await begin({ a: toolServer(['x']), endless })
    const names = namesOf(await answered(client, 'tools/list'))
    expect(names[0]).toBe('a__x')
    expect(client.log.join()).toContain(
      `endless: its tools/list has more than ${MEMBER_LIST_LENGTH_MAX} characters`,
    )
  })
})

describe('the session', () => {
  test('ends with the client, and all servers with it', async () => {
    const client = await begin({ a: toolServer(['x']), b: toolServer(['x']) })
    client.session.events.onClose('over')
    expect(client.ended).toBe(true)
    expect(client.endedServers).toEqual(['a', 'b'])
  })

  test('a server that speaks what nobody knows is not there', async () => {
    const odd: Server = () => ({ protocolVersion: '1999-01-01', capabilities: {} })
    const client = await begin({ odd, a: toolServer(['x']) })
    const answer = await answered(client, 'tools/call', { name: 'odd__x' })
    expect(answer?.error?.message).toMatch(/`odd` is not there.*does not speak/)
  })

  test('requests before `initialize`, twice under one id, or too many are refused', async () => {
    const client = new AllServersClient({
      a: (method) => (method === 'initialize' ? begun({}) : undefined),
    })
    expect((await answered(client, 'tools/list'))?.error?.message).toContain('send `initialize`')
    expect((await answered(client, 'ping'))?.result).toEqual({})
    await answered(client, 'initialize')
    expect((await answered(client, 'made/up'))?.error?.code).toBe(-32601)
    for (let open = 0; open < SESSION_REQUESTS_MAX; open++)
      client.ask('tools/call', { name: 'a__wait' })
    const last = client.ask('tools/call', { name: 'a__wait' })
    expect(client.answerTo(last)?.error?.message).toContain('requests are open')
    client.say({ id: Number(last) - 1, method: 'ping' })
    expect(client.received.at(-1)?.error?.message).toContain('still open')
  })

  test('a server that ends with a call open ends that call alone', async () => {
    const client = await begin({ a: toolServer(['x']), b: toolServer(['x']) })
    client.links.get('a')?.close('it fell')
    await settle()
    expect(client.received.flatMap(({ method }) => method ?? [])).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ])
    expect((await answered(client, 'tools/call', { name: 'a__x' }))?.error?.message).toBe(
      'the server `a` is not there: it fell; nothing was sent',
    )
    expect((await answered(client, 'tools/call', { name: 'b__x' }))?.result).toEqual({
      called: 'x',
    })
    await settle(1_000)
    expect((await answered(client, 'tools/call', { name: 'a__x' }))?.result).toEqual({
      called: 'x',
    })
  })
})

describe('subscriptions of the stateless generation', () => {
  const listener: Server = (method) =>
    method === 'server/discover'
      ? begun({ tools: {} })
      : method === 'tools/list'
        ? { tools: [] }
        : undefined
  const deaf: Server = (method) => (method === 'server/discover' ? begun({}) : 'no such method')
  const listens = ({ got }: AllServersClient, server: string) =>
    got.filter((each) => each.server === server && each.request.method === 'subscriptions/listen')

  /** What the server behind a link tells on its newest subscription. */
  function tell(client: AllServersClient, server: string, method: string, answers = false): void {
    const id = listens(client, server).at(-1)?.request.id as string
    const message = answers ? { id, result: {} } : { method, params: { notifications: {} } }
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    client.links.get(server)?.send(text, { request: id, answers })
  }

  async function subscribed(): Promise<{ client: AllServersClient; id: number | string }> {
    const client = new AllServersClient({ a: listener, b: listener, deaf }, 'stateless')
    const id = client.ask('subscriptions/listen', { notifications: { toolsListChanged: true } })
    await settle()
    expect(client.received).toEqual([])
    tell(client, 'a', 'notifications/tools/list_changed')
    for (const server of ['a', 'b'])
      tell(client, server, 'notifications/subscriptions/acknowledged')
    await settle()
    return { client, id }
  }

  test('are told first what they will hear of; a server that has none holds up nobody', async () => {
    const { client, id } = await subscribed()
    expect(client.received.map(({ method }) => method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
    expect(client.received[0]?.params).toEqual({
      notifications: { toolsListChanged: true },
      _meta: { 'io.modelcontextprotocol/subscriptionId': id },
    })
    await settle(RESTART_FIRST_MS)
    expect(listens(client, 'deaf')).toHaveLength(1)
  })

  test('are asked for again where a server ended one, and given up when the client does', async () => {
    const { client, id } = await subscribed()
    tell(client, 'a', '', true)
    await settle(RESTART_FIRST_MS - 1)
    expect(listens(client, 'a')).toHaveLength(1)
    await settle(1)
    expect(listens(client, 'a')).toHaveLength(2)
    tell(client, 'a', 'notifications/tools/list_changed')
    expect(client.received.at(-1)?.method).toBe('notifications/tools/list_changed')
    client.say({ method: 'notifications/cancelled', params: { requestId: id } })
    expect(client.cancelled).toEqual(['a', 'b'])
    const before = client.received.length
    tell(client, 'b', 'notifications/tools/list_changed')
    expect(client.received).toHaveLength(before)
  })

  test('hear when a server goes, and are asked for once when it is back', async () => {
    const { client } = await subscribed()
    client.links.get('b')?.close('it fell')
    await settle()
    expect(client.received.at(-1)?.method).toBe('notifications/tools/list_changed')
    await settle(RESTART_FIRST_MS)
    await answered(client, 'tools/list')
    await settle(RESTART_FIRST_MS * 10)
    expect(listens(client, 'b')).toHaveLength(2)
  })
})
