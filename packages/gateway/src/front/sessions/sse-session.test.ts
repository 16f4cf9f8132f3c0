// A session over HTTP+SSE with a real response and time as the test says.

import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonRpcMessage } from '@sluice/protocol/message'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SSE_INITIALIZE_MS } from '../../shared/limits.ts'
import { NO_CLIENT_EVENTS } from '../../shared/transport.ts'
import { NodeResponseWriter, type ResponseWriter } from '../exchange/response-writer.ts'
import { callerOf } from '../http/caller.test-support.ts'
import { SseSession } from './sse-session.ts'

const INITIALIZE: JsonRpcMessage = {
  kind: 'request',
  id: 1,
  method: 'initialize',
  params: { value: {}, text: new Map() },
  source: '',
}

let server: Server
let arrived: Promise<ServerResponse>

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  server = createServer()
  arrived = new Promise((resolve) => server.once('request', (_, response) => resolve(response)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  vi.useRealTimers()
  server.closeAllConnections()
  server.close()
})

async function open(onClose: (why: string) => void = () => {}) {
  const client = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const response = await arrived
  const ended: string[] = []
  const session = new SseSession({
    id: 'an-id',
    server: 'a',
    caller: callerOf('ann'),
    nowMs: 0,
    path: '/mcp/a',
    reply: new NodeResponseWriter(response),
    connect: () => ({ ...NO_CLIENT_EVENTS, onClose }),
    onEnd: (why) => void ended.push(why),
  })
  return { session, ended, text: (await client).text() }
}

test('a stream on which nobody says `initialize` ends by itself', async () => {
  const { ended, text } = await open()
  vi.advanceTimersByTime(SSE_INITIALIZE_MS - 1)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(1)
  expect(ended).toEqual(['no `initialize` came'])
  expect(await text).toBe('event: endpoint\ndata: /mcp/a?session=an-id\n\n')
})

test('what is open when it ends is answered, and both sides of the session learn of the end', async () => {
  const received: string[] = []
  const { session, ended, text } = await open((why) => void received.push(why))
  expect(session.isIdle).toBe(true)
  const acknowledged = { send() {} } as unknown as ResponseWriter
  session.accept([INITIALIZE], false, {}, acknowledged)
  expect(session.isIdle).toBe(false)
  expect(session.refuses([INITIALIZE])).toBe('a request with this id is still open')
  vi.advanceTimersByTime(SSE_INITIALIZE_MS)
  session.close('over')
  expect([ended, received]).toEqual([['over'], ['over']])
  expect(session.send('{}')).toBe(false)
  expect(await text).toMatch(/"id":1,"error":\{"code":-32603,"message":"over"\}/)
})
