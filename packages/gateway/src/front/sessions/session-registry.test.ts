// Sessions over HTTP with time as the test says: who ends by itself, who makes room, and how an open
// answer shows that it lives.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonRpcMessage } from '@sluice/protocol/message'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SESSION_IDLE_MS, SESSIONS_MAX } from '../../shared/limits.ts'
import { NO_CLIENT_EVENTS } from '../../shared/transport.ts'
import { NodeResponseWriter, type ResponseWriter } from '../exchange/response-writer.ts'
import { callerOf } from '../http/caller.test-support.ts'
import type { HttpSession } from './http-session.ts'
import { SessionRegistry } from './session-registry.ts'

let nowMs = 0
let sessions: SessionRegistry
let server: Server
let take: (reply: ResponseWriter) => void = () => {}

beforeEach(async () => {
  nowMs = 0
  sessions = new SessionRegistry(() => nowMs)
  server = createServer((_, response) => take(new NodeResponseWriter(response)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const ANN = callerOf('ann')
let received: JsonRpcMessage[] = []
const connect = () => ({
  ...NO_CLIENT_EVENTS,
  onMessage: (message: JsonRpcMessage) => void received.push(message),
})
const open = (name: string, caller = ANN): HttpSession | undefined =>
  sessions.open(name, caller, undefined, connect)

/** A client's request, and where the gate answers it. */
async function request(): Promise<{ client: Promise<Response>; reply: ResponseWriter }> {
  const { port } = server.address() as AddressInfo
  const arrived = new Promise<ResponseWriter>((resolve) => {
    take = resolve
  })
  const client = fetch(`http://127.0.0.1:${port}/`)
  return { client, reply: await arrived }
}

const PING: JsonRpcMessage = {
  kind: 'request',
  id: 1,
  method: 'ping',
  params: undefined,
  source: '',
}

describe('idle sessions', () => {
  test('end by themselves, and say why', () => {
    const session = open('http') as HttpSession
    nowMs = SESSION_IDLE_MS - 1
    sessions.sweep()
    expect(sessions.use('http', session.id, ANN)).toBe(session)
    nowMs += SESSION_IDLE_MS
    sessions.sweep()
    expect(sessions.use('http', session.id, ANN)).toBeUndefined()
    expect(sessions.whyOver(session.id)).toBe('nobody used it for 30 minutes')
  })

  test('but not while somebody listens', async () => {
    const session = open('process')
    const { client, reply } = await request()
    session?.listen(reply, undefined)
    nowMs = SESSION_IDLE_MS * 2
    sessions.sweep()
    expect(sessions.use('process', session?.id, ANN)).toBe(session)
    session?.close('done')
    expect(await (await client).text()).toBe(': still here\n\n')
  })

  test('make room where there are too many, the longest unused first', () => {
    const all = Array.from({ length: SESSIONS_MAX }, () => {
      nowMs += 1
      return open('http')
    })
    sessions.use('http', all[0]?.id, ANN)
    expect(open('http')).toBeDefined()
    const [first, second, third] = all
    expect([first, second, third].map((each) => sessions.use('http', each?.id, ANN))).toEqual([
      first,
      undefined,
      third,
    ])
  })
})

describe('a session', () => {
  test("is another principal's only by name: to them there is none", () => {
    const session = open('http')
    expect(sessions.use('http', session?.id, callerOf('bob'))).toBeUndefined()
    expect(sessions.use('http', session?.id, ANN)).toBe(session)
  })

  test('goes on with a newer token of the same principal', () => {
    const session = open('http')
    const newer = callerOf('ann')
    sessions.use('http', session?.id, newer)
    expect(session?.caller).toBe(newer)
  })

  test('makes room first where one principal has the most of them', () => {
    const bobs = open('http', callerOf('bob'))
    nowMs = 1
    for (let count = 1; count < SESSIONS_MAX; count++) open('http')
    expect(open('http')).toBeDefined()
    expect(sessions.use('http', bobs?.id, callerOf('bob'))).toBe(bobs)
  })
})

describe('an open answer', () => {
  test('becomes a stream that shows it lives, and ends with the answer', async () => {
    const session = open('http')
    const { client, reply } = await request()
    session?.accept([PING], false, {}, reply)
    sessions.sweep()
    session?.send('{"a":1}', { request: 1, answers: true })
    expect(await (await client).text()).toBe(': still here\n\ndata: {"a":1}\n\n')
  })

  test('of a server that starts slowly names the session as it is called from then on', async () => {
    let names = 0
    const give = () => `sealed-${++names}`
    sessions = new SessionRegistry(() => nowMs, { give, read: () => undefined })
    const session = open('slow') as HttpSession
    const { client, reply } = await request()
    session.accept([PING], false, {}, reply)
    sessions.sweep()
    session.begun('handle')
    session.send('{"a":1}', { request: 1, answers: true })
    const told = (await client).headers.get('mcp-session-id') ?? ''
    expect(told).toBe('sealed-1')
    expect(sessions.use('slow', told, ANN)).toBe(session)
  })

  test('that was cancelled is an empty stream', async () => {
    const session = open('http')
    const { client, reply } = await request()
    session?.accept([PING], false, {}, reply)
    session?.drop(1)
    expect(await (await client).text()).toBe('')
    expect(session?.openRequests).toBe(0)
  })

  test('is told why its session ends', async () => {
    const session = open('http')
    const { client, reply } = await request()
    session?.accept([PING], false, {}, reply)
    sessions.closeAll('over')
    expect(await (await client).json()).toMatchObject({ id: 1, error: { message: 'over' } })
  })

  test('that its client left is cancelled, and a session that never began is over', async () => {
    const session = open('http') as HttpSession
    received = []
    const { client, reply } = await request()
    session.accept([PING], false, {}, reply)
    reply.destroy()
    await expect(client).rejects.toThrow()
    expect(received.at(-1)).toMatchObject({ method: 'notifications/cancelled' })
    expect(sessions.use('http', session.id, ANN)).toBeUndefined()
  })
})

describe('clients of the stateless generation', () => {
  const of = (caller = ANN, capabilities = '{}', tokenKey?: string) =>
    sessions.stateless('http', caller, { capabilities, tokenKey }, connect)
  const withToken = (groups: string[], claims = {}) => ({
    ...ANN,
    principal: { ...ANN.principal, groups, claims },
  })

  test('of one principal share a conversation where they can do the same', () => {
    expect(of()).toBe(of())
    expect(of(ANN, '{"roots":{}}')).not.toBe(of())
    expect(of(callerOf('bob'))).not.toBe(of())
  })

  test('a token with other groups, claims or another policy is not judged by the newest one', () => {
    const plain = of(withToken([]))
    const admin = of(withToken(['admin']))
    expect(admin).not.toBe(plain)
    expect(plain?.caller.principal.groups).toEqual([])
    expect(of({ ...ANN, policy: 'other' })).not.toBe(of())
    expect(of(withToken([], { scope: 'a' }))).not.toBe(of(withToken([], { scope: 'b' })))
    // The next token of the same person goes on where the last one was.
    const [old, next] = [
      { iat: 1, exp: 2, jti: 'x' },
      { iat: 2, exp: 3, jti: 'y' },
    ]
    expect(of(withToken([], next))).toBe(of(withToken([], old)))
  })
})
