// Finding out of which generation a server is, with servers that the test plays: slow ones, silent ones,
// ones that cannot be reached yet, and ones that become another while the gate runs.

import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import {
  META,
  type ProtocolGeneration,
  STATELESS_REVISION,
} from '@sluice/protocol/protocol-generation'
import { writeNotification, writeRequest } from '@sluice/protocol/write-message'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { GENERATION_PROBE_PROCESS_MS_MAX, STDIN_QUEUE_MESSAGES_MAX } from '../limits.ts'
import { ScriptedLink, type Sent, settled } from '../scripted-link.test-support.ts'
import type { UpstreamEvents, UpstreamFailure } from '../upstream.ts'
import { ReconnectingUpstream } from './reconnecting-upstream.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => vi.useRealTimers())

const DISCOVERED = { resultType: 'complete', supportedVersions: [STATELESS_REVISION] }
const BEGUN = { protocolVersion: '2025-11-25', capabilities: {} }
const NEWER = (sent: Sent) => (sent.method === 'server/discover' ? DISCOVERED : undefined)
const OLDER = (sent: Sent) => (sent.method === 'initialize' ? BEGUN : undefined)

class Server {
  readonly generations: Partial<Record<ProtocolGeneration, boolean>>
  readonly started: { generation: ProtocolGeneration; link: ScriptedLink }[] = []
  readonly received: JsonRpcMessage[] = []
  readonly failures: UpstreamFailure[] = []
  readonly link: ReconnectingUpstream
  closed: string | undefined
  #lastId = 0

  constructor(
    clientGeneration: ProtocolGeneration,
    isProcess: boolean,
    answers: ScriptedLink['answers'],
    generations: Partial<Record<ProtocolGeneration, boolean>> = {},
  ) {
    this.generations = generations
    const start = (generation: ProtocolGeneration, events: UpstreamEvents) => {
      const link = new ScriptedLink().connect(events)
      link.answers = answers
      this.started.push({ generation, link })
      return link
    }
    const options = {
      name: 'files',
      clientGeneration,
      generations,
      isProcess,
      log: () => {},
      start,
    }
    this.link = new ReconnectingUpstream(options, {
      onMessage: (message) => void this.received.push(message),
      onFailure: (failure) => void this.failures.push(failure),
      onClose: (why) => {
        this.closed = why
      },
    })
  }

  get last(): ScriptedLink {
    return this.started.at(-1)?.link as ScriptedLink
  }

  get sent(): (string | undefined)[] {
    return this.started.flatMap(({ link }) => link.sent.map(({ method }) => method))
  }

  async ask(method: string, more: Record<string, string> = {}): Promise<RequestId> {
    const id = ++this.#lastId
    const meta = { [META.version]: STATELESS_REVISION, [META.capabilities]: {} }
    const params = withMembers(undefined, { _meta: JSON.stringify(meta), ...more })
    this.link.send(writeRequest(id, method, params.text), { passing: { id, method, params } })
    await settled()
    return id
  }

  answersTo(id: RequestId): JsonRpcMessage[] {
    return this.received.filter((message) => message.kind === 'answer' && message.id === id)
  }
}

const refuses = (link: ScriptedLink, method: string, code = -32601) =>
  link.say({ id: link.last(method).id, error: { code, message: 'no such method' } })

describe('a client of the stateless generation', () => {
  test.each([true, false])(
    'with a server of its own generation (process: %s)',
    async (isProcess) => {
      const server = new Server('stateless', isProcess, NEWER)
      await server.ask('tools/list')
      expect(server.sent).toEqual(['server/discover', 'tools/list'])
      expect(server.generations).toEqual({ stateless: true })
      const next = new Server('stateless', isProcess, NEWER, server.generations)
      await next.ask('tools/list')
      expect(next.sent).toEqual(['tools/list'])
    },
  )

  test.each([true, false])('with a server with sessions (process: %s)', async (isProcess) => {
    const server = new Server('stateless', isProcess, OLDER)
    await server.ask('tools/list')
    refuses(server.last, 'server/discover')
    await settled()
    expect(server.sent).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
    ])
    expect(server.generations).toEqual({ stateless: false })
  })

  test('with a server that is silent when asked: it is one with sessions, and that is remembered', async () => {
    const server = new Server('stateless', true, OLDER)
    await server.ask('tools/list')
    vi.advanceTimersByTime(GENERATION_PROBE_PROCESS_MS_MAX)
    await settled()
    expect(server.sent.at(-1)).toBe('tools/list')
    expect(server.generations).toEqual({ stateless: false })
  })

  test('with a server of its generation that starts slowly: what waited reaches it, once, in its generation', async () => {
    const server = new Server('stateless', true, () => undefined)
    const id = await server.ask('tools/call', { name: '"a"' })
    vi.advanceTimersByTime(GENERATION_PROBE_PROCESS_MS_MAX)
    await settled()
    expect(server.sent).toEqual(['server/discover', 'initialize'])
    // Now it reads what was sent, in order.
    server.last.say({ id: server.last.last('server/discover').id, result: DISCOVERED })
    refuses(server.last, 'initialize')
    await settled()
    expect(server.sent.slice(2)).toEqual(['tools/call'])
    server.last.say({ id, result: { content: [] } })
    expect(server.answersTo(id)).toHaveLength(1)
    expect(server.generations.stateless).toBe(true)
  })

  test('with a server that cannot be reached: told so, and found out when it is there', async () => {
    const server = new Server('stateless', false, () => undefined)
    const id = await server.ask('tools/list')
    server.last.fail(server.last.last('server/discover').id, 'UPSTREAM_UNREACHABLE')
    await settled()
    expect(server.failures).toMatchObject([{ request: id, code: 'UPSTREAM_UNREACHABLE' }])
    await server.ask('tools/list')
    refuses(server.last, 'server/discover')
    await settled()
    expect(server.last.sent.at(-1)?.method).toBe('initialize')
  })

  test('with a server that became another: found out anew', async () => {
    const generations = { stateless: false }
    const server = new Server('stateless', false, NEWER, generations)
    const id = await server.ask('tools/list')
    refuses(server.last, 'initialize')
    await settled()
    expect(server.failures).toMatchObject([{ request: id, code: 'UPSTREAM_NOT_STARTED' }])
    await server.ask('tools/list')
    expect(server.generations.stateless).toBe(true)
    expect(server.last.sent.at(-1)?.method).toBe('tools/list')
    const { id: last } = server.last.last('tools/list')
    server.last.fail(last, 'UPSTREAM_STATUS', 400)
    expect(server.generations.stateless).toBeUndefined()
    await server.ask('tools/list')
    expect(server.last.sent.slice(-2).map(({ method }) => method)).toEqual([
      'server/discover',
      'tools/list',
    ])
  })

  test('that no longer waits: a call that has not left is never made', async () => {
    const server = new Server('stateless', true, () => undefined)
    const [gone, stays] = [await server.ask('tools/call'), await server.ask('tools/call')]
    server.link.abort(gone)
    server.last.say({ id: server.last.last('server/discover').id, result: DISCOVERED })
    await settled()
    expect(server.last.all('tools/call').map(({ id }) => id)).toEqual([stays])
  })

  test('may not make more wait than the bound says', async () => {
    const server = new Server('stateless', true, () => undefined)
    for (let at = 0; at < STDIN_QUEUE_MESSAGES_MAX; at++)
      server.link.send(writeNotification('notifications/progress', undefined))
    const id = await server.ask('tools/list')
    expect(server.failures).toMatchObject([{ request: id, code: 'UPSTREAM_BUSY' }])
  })
})

describe('a client with a session', () => {
  test.each([true, false])(
    'with a server of its own generation (process: %s)',
    async (isProcess) => {
      const server = new Server('session', isProcess, OLDER)
      const id = await server.ask('initialize')
      expect(server.answersTo(id)).toHaveLength(1)
      await server.ask('tools/list')
      expect(server.sent).toEqual(['initialize', 'tools/list'])
    },
  )

  test.each([true, false])('with a server of the other (process: %s)', async (isProcess) => {
    const server = new Server('session', isProcess, NEWER)
    const id = await server.ask('initialize')
    const first = server.started.find(({ generation }) => generation === 'session')
      ?.link as ScriptedLink
    refuses(first, 'initialize', -32022)
    await settled()
    expect(server.answersTo(id)).toHaveLength(1)
    expect(server.generations).toEqual({ session: false })
    const next = new Server('session', isProcess, NEWER, server.generations)
    await next.ask('initialize')
    expect(next.sent).toEqual(['server/discover'])
  })

  test('with a server that refuses in both generations: told what it said', async () => {
    const server = new Server('session', true, () => undefined)
    const id = await server.ask('initialize')
    refuses(server.last, 'initialize', -32603)
    await settled()
    refuses(server.last, 'server/discover')
    await settled()
    expect(server.answersTo(id)).toMatchObject([{ error: { code: -32603 } }])
    expect(server.generations).toEqual({})
  })

  test('with a server that is slow to begin: its answer comes when it comes', async () => {
    const server = new Server('session', true, () => undefined)
    const id = await server.ask('initialize')
    vi.advanceTimersByTime(GENERATION_PROBE_PROCESS_MS_MAX)
    await settled()
    server.last.say({ id, result: BEGUN })
    await settled()
    expect(server.answersTo(id)).toHaveLength(1)
    expect(server.sent).toEqual(['initialize'])
  })

  test('hears what comes beside the first answer', async () => {
    const server = new Server('session', true, () => undefined)
    const id = await server.ask('initialize')
    server.last.say({ id, result: BEGUN })
    server.last.say({ method: 'notifications/message', params: { data: 1 } })
    await settled()
    expect(server.received.map(({ kind }) => kind).toSorted()).toEqual(['answer', 'notification'])
  })
})

test.each(['session', 'stateless'] as const)(
  'closed in the middle of it: %s',
  async (generation) => {
    const server = new Server(generation, false, () => undefined)
    await server.ask(generation === 'session' ? 'initialize' : 'tools/list')
    server.link.close('over')
    await server.link.ended
    await settled()
    expect(server.closed).toBe('over')
    expect(server.started.every(({ link }) => link.closed !== undefined)).toBe(true)
    expect(server.link.send('{"jsonrpc":"2.0","method":"notifications/x"}')).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  },
)
