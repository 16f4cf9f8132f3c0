// A session outlives its process: what is sent next starts another, which is begun as the client began.

import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcMessage } from '@sluice/protocol/message'
import { writeNotification, writeRequest } from '@sluice/protocol/write-message'
import { expect, test, vi } from 'vitest'
import { SERVER_DRAIN_MS } from '../../config/limits.ts'
import type { Evictable } from '../../processes/evict-idle.ts'
import type { ProcessLease } from '../../processes/process-quota.ts'
import { ScriptedLink, settled } from '../scripted-link.test-support.ts'
import type { UpstreamEvents, UpstreamFailure } from '../upstream.ts'
import { ReconnectingUpstream } from './reconnecting-upstream.ts'
import { SharedServers } from './shared-servers.ts'

/** A process that is busy while a request is open, and ends when it is told to. */
class Process extends ScriptedLink {
  isBusy = false
  override readonly ended: Promise<void>
  exit: () => void = () => {}

  constructor() {
    super()
    this.ended = new Promise((resolve) => {
      this.exit = () => resolve()
    })
    this.answers = ({ method }) =>
      method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: {},
            serverInfo: { name: 'a', version: '1' },
          }
        : undefined
  }
}

function make(
  enter: (user: Evictable) => Promise<ProcessLease> = async () => ({ ended() {} }),
  onStart: (run: Process, number: number) => void = () => {},
) {
  const runs: Process[] = []
  const users: Evictable[] = []
  const start = (_generation: string, events: UpstreamEvents) => {
    const run = new Process().connect(events)
    runs.push(run)
    onStart(run, runs.length)
    return run
  }
  const options = {
    name: 'files',
    clientGeneration: 'session',
    generations: {},
    isProcess: true,
    log() {},
    start,
    places: {
      spare: () => 1,
      enter: (user: Evictable) => {
        users.push(user)
        return enter(user)
      },
    },
  } as const
  const heard: JsonRpcMessage[] = []
  const failures: UpstreamFailure[] = []
  const closed: string[] = []
  const link = new ReconnectingUpstream(options, {
    onMessage: (message) => void heard.push(message),
    onFailure: (failure) => void failures.push(failure),
    onClose: (why) => void closed.push(why),
  })
  let lastId = 0
  const ask = (method: string, texts: Record<string, string> = {}) => {
    const id = ++lastId
    const params = withMembers(undefined, texts)
    link.send(writeRequest(id, method, params.text), { passing: { id, method, params } })
    return id
  }
  const begin = async () => {
    ask('initialize', { protocolVersion: '"2025-11-25"', capabilities: '{"roots":{}}' })
    await settled()
    link.send(writeNotification('notifications/initialized', undefined))
  }
  return { link, runs, users, heard, failures, closed, ask, begin }
}

const methods = (run: Process | undefined) => run?.sent.map(({ method }) => method)

test('suites F3: a process that rests is started again by the next call, as the client began it', async () => {
  const { link, runs, heard, ask, begin, closed } = make()
  await begin()
  ask('logging/setLevel', { level: '"info"' })
  ask('resources/subscribe', { uri: '"file:///a"' })
  ask('resources/subscribe', { uri: '"file:///b"' })
  ask('resources/unsubscribe', { uri: '"file:///a"' })
  expect(link.rest('nobody uses it')).toBe(true)
  expect([runs[0]?.closed, closed]).toEqual(['nobody uses it', []])
  // Whatever the old one still says is nobody's.
  runs[0]?.say({ method: 'notifications/message', params: { level: 'info', data: 'late' } })
  const id = ask('tools/call', { name: '"read"' })
  await settled()
  expect(methods(runs[1])).toEqual([
    'initialize',
    'notifications/initialized',
    'logging/setLevel',
    'resources/subscribe',
    'tools/call',
  ])
  expect(runs[1]?.last('initialize').params).toMatchObject({ capabilities: { roots: {} } })
  runs[1]?.say({ id, result: { content: [] } })
  const received = heard.map((message) => (message.kind === 'answer' ? message.id : message.method))
  expect(received).toEqual([1, 'notifications/tools/list_changed', id])
})

test('it does not rest while a request or a subscription is open, nor where tasks live in it', async () => {
  const { link, runs, users, ask, begin } = make()
  await begin()
  ;(runs[0] as Process).isBusy = true
  expect([link.rest('x'), users[0]?.spare]).toEqual([false, undefined])
  ;(runs[0] as Process).isBusy = false
  expect(users[0]?.spare).toBe(1)
  const listen = ask('subscriptions/listen')
  expect([link.rest('x'), users[0]?.spare]).toEqual([false, undefined])
  link.abort(listen)
  expect(users[0]?.spare).toBe(1)
  ask('tools/call', { name: '"long"', task: '{}' })
  expect([link.rest('x'), users[0]?.spare]).toEqual([false, undefined])
})

test('where there is no place in time, what waits is refused and can be sent again', async () => {
  let isFull = true
  const { runs, failures, closed, ask } = make(async () => {
    if (isFull) throw new Error('all 4 processes of servers are in use')
    return { ended() {} }
  })
  ask('initialize')
  await settled()
  expect(failures).toMatchObject([{ code: 'UPSTREAM_BUSY', request: 1, repeatable: true }])
  isFull = false
  ask('initialize')
  await settled()
  expect([runs.length, closed]).toEqual([1, []])
})

test('one that cannot be begun again is told to whoever waits, and the session may try later', async () => {
  const { link, runs, failures, closed, ask, begin } = make(undefined, (run, number) => {
    if (number === 2) run.answers = () => undefined
  })
  await begin()
  link.rest('idle')
  const id = ask('tools/call')
  await settled()
  const refusing = runs[1] as Process
  // It may be a server of the other generation by now.
  for (const method of ['initialize', 'server/discover']) {
    refusing.say({ id: refusing.last(method).id, error: { code: -32603, message: 'no' } })
    await settled()
  }
  expect(failures).toMatchObject([{ code: 'UPSTREAM_NOT_STARTED', request: id, repeatable: true }])
  expect([closed, methods(refusing)]).toEqual([[], ['initialize', 'server/discover']])
  ask('tools/call')
  await settled()
  expect(methods(runs[2])).toContain('tools/call')
})

test('the end of the process while it is begun again ends the session, and what waits was never sent', async () => {
  const { link, runs, failures, closed, ask, begin } = make(undefined, (run, number) => {
    if (number === 2) run.answers = () => undefined
  })
  await begin()
  link.rest('idle')
  const request = ask('tools/call')
  await settled()
  runs[1]?.close('it crashed')
  await settled()
  expect(failures).toMatchObject([{ code: 'UPSTREAM_UNREACHABLE', request, repeatable: true }])
  expect(closed).toEqual(['it crashed'])
})

test('the end of the process by itself ends the session, as without a gate', async () => {
  const { link, runs, closed, begin } = make()
  await begin()
  runs[0]?.close('it crashed')
  expect(closed).toEqual(['it crashed'])
  let isEnded = false
  void link.ended.then(() => {
    isEnded = true
  })
  await settled()
  expect(isEnded).toBe(false)
  runs[0]?.exit()
  await settled()
  expect(isEnded).toBe(true)
})

test('suites F1: a session that comes while a shared process is ending gets another at once', async () => {
  const runs: Process[] = []
  const shared = new SharedServers(1_000)
  const start = (_spare: unknown, events: UpstreamEvents) => {
    const run = new Process().connect(events)
    runs.push(run)
    return run
  }
  const quiet = { onMessage() {}, onFailure() {}, onClose() {} }
  const attach = (onMessage: UpstreamEvents['onMessage'] = () => {}) =>
    shared.attach('key', { spare: () => 1, start }, { ...quiet, onMessage })
  const first = attach()
  expect(attach()).not.toBe(first)
  expect(runs).toHaveLength(1)
  await settled()
  // Told to end, and still there for seconds.
  runs[0]?.close('does not read what it is sent')
  let hear: UpstreamEvents['onMessage'] = () => {}
  const answered = new Promise((resolve) => {
    hear = resolve
  })
  const next = attach((message) => hear(message))
  expect(runs).toHaveLength(2)
  await settled()
  const params = withMembers(undefined, {})
  next.send(writeRequest(7, 'ping', params.text), { passing: { id: 7, method: 'ping', params } })
  expect(await answered).toMatchObject({ kind: 'answer', id: 7 })
})

test('restart: open requests are answered by the old process, new ones and subscriptions go to the next', async () => {
  const { link, runs, heard, closed, ask, begin } = make()
  await begin()
  const listen = ask('subscriptions/listen')
  const open = ask('tools/call', { name: '"read"' })
  link.restart('changed')
  link.restart('changed again')
  const next = ask('tools/call', { name: '"write"' })
  link.send(writeNotification('notifications/cancelled', undefined))
  await settled()
  expect([runs.length, runs[0]?.closed]).toEqual([1, undefined])
  expect(methods(runs[0])?.at(-1)).toBe('notifications/cancelled')
  runs[0]?.say({ id: open, result: { content: [] } })
  await settled()
  expect([runs.length, runs[0]?.closed, closed]).toEqual([2, expect.any(String), []])
  expect(methods(runs[1])).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
    'subscriptions/listen',
  ])
  expect(runs[1]?.last('subscriptions/listen').id).toBe(listen)
  runs[1]?.say({ id: next, result: { content: [] } })
  const answers = heard.flatMap((message) => (message.kind === 'answer' ? [message.id] : []))
  expect(answers).toEqual([1, open, next])
  link.restart('once more')
  await settled()
  expect(runs.length).toBe(3)
})

test('restart while a process is being started, and a call that the old one never answers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { link, runs, closed, ask } = make()
    link.restart('changed')
    ask('initialize', { protocolVersion: '"2025-11-25"' })
    await settled()
    expect([runs.length, methods(runs[1])]).toEqual([2, ['initialize']])
    ask('tools/call', { name: '"hang"' })
    link.restart('changed')
    vi.advanceTimersByTime(SERVER_DRAIN_MS)
    expect(closed).toEqual(['changed'])
  } finally {
    vi.useRealTimers()
  }
})

test('a server over HTTP that has forgotten the session is begun again, and gets once more what it refused', async () => {
  const server = new Process()
  const failures: UpstreamFailure[] = []
  const closed: string[] = []
  const start = (_generation: string, events: UpstreamEvents) => server.connect(events)
  const options = {
    name: 'a',
    clientGeneration: 'session',
    generations: {},
    isProcess: false,
  } as const
  const link = new ReconnectingUpstream(
    { ...options, log() {}, start },
    {
      onMessage() {},
      onFailure: (failure) => void failures.push(failure),
      onClose: (why) => void closed.push(why),
    },
  )
  const ask = (id: number, method: string, texts: Record<string, string> = {}) => {
    const params = withMembers(undefined, texts)
    const text = writeRequest(id, method, params.text)
    const carried = { passing: { id, method, params } }
    link.send(text, carried)
    return { text, carried }
  }
  ask(1, 'initialize')
  await settled()
  link.send(writeNotification('notifications/initialized', undefined))
  ask(2, 'resources/subscribe', { uri: '"file:///a"' })
  const unsent = ask(3, 'tools/call')
  const gone = {
    code: 'UPSTREAM_SESSION_GONE',
    message: 'x',
    repeatable: true,
    request: 3,
  } as const
  server.events.onFailure({ ...gone, unsent })
  ask(4, 'tools/list')
  // One that nobody waits for any more is not sent again.
  server.events.onFailure({ ...gone, request: 5, unsent: ask(5, 'tools/call') })
  link.abort(5)
  await settled()
  expect(server.sent.slice(4).map(({ method }) => method)).toEqual([
    'initialize',
    'notifications/initialized',
    'resources/subscribe',
    'tools/call',
    'tools/list',
  ])
  expect([server.sent.at(-2)?.id, failures, closed]).toEqual([3, [], []])
  // Refused once more: nobody sends it a third time.
  server.events.onFailure(gone)
  expect([failures, closed]).toEqual([[gone], ['session gone']])
})
