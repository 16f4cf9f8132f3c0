// Links over HTTP to servers started here (test/servers/http.ts): what is sent, what comes back, and
// what every way of failing means for the request that failed.

import { setTimeout as sleep } from 'node:timers/promises'
import { writeError, writeNotification, writeResult } from '@sluice/protocol/write-message'
import { describe, expect, test } from 'vitest'
import { type Behaviour, writeEvent } from '../../../../../test/servers/http.ts'
import { SESSION_TAKEN } from '../../shared/transport.ts'
import { takePlaces, until } from '../ask.test-support.ts'
import { HTTP_OPEN_EXCHANGES_MAX } from '../limits.ts'
import type { MessageCredential } from '../upstream.ts'
import { connect, EVENTS, isCall, serve, up } from './http.test-support.ts'

describe('a server that behaves', () => {
  test.each(['json', 'events'] as const)(
    'answers in %s; session, revision and farewell',
    async (answers) => {
      const { server, asker, link } = await up({ answers })
      const list = (await asker.result('tools/list')) as { tools: unknown[] }
      expect(list.tools).toHaveLength(5)
      expect(await asker.call('echo', { a: 'ä' })).toBe('{"a":"ä"}')
      await until(() => server.streams.size === 1)
      link.close('done')
      await link.ended
      const [first, ...rest] = server.seen
      expect(first?.headers['mcp-session-id']).toBeUndefined()
      expect(first?.headers.accept).toBe('application/json, text/event-stream')
      for (const { headers } of rest) {
        expect(headers['mcp-session-id']).toBe('s-1')
        expect(headers['mcp-protocol-version']).toBe('2025-11-25')
      }
      const methods = rest.map(({ method }) => method)
      expect(methods.at(-1)).toBe('DELETE')
      expect(methods.toSorted()).toEqual(['DELETE', 'GET', 'POST', 'POST', 'POST'])
      expect(link.send(writeNotification('notifications/cancelled', undefined))).toBe(false)
    },
  )

  test('a session that another gate has taken over is not ended at the server', async () => {
    const { asker, link, server } = await up()
    await asker.call('echo', {})
    link.close(SESSION_TAKEN)
    await link.ended
    expect(server.seen.map(({ method }) => method)).not.toContain('DELETE')
  })

  test.each(['json', 'events'] as const)(
    'a large answer in %s is read when there is a place for it, and others are meanwhile',
    async (answers) => {
      const { asker, link } = await up({ answers })
      const givePlaces = takePlaces()
      let isAnswered = false
      const large = asker.call('big', { bytes: 3_000_000 }).finally(() => {
        isAnswered = true
      })
      void asker.ask('tools/call', { name: 'big', arguments: { bytes: 3_000_000 } })
      const abandoned = asker.lastId
      const other = await up({ answers })
      for (let at = 0; at < 10; at++)
        expect(await other.asker.call('big', { bytes: 900_000 })).toHaveLength(900_000)
      expect(isAnswered).toBe(false)
      link.abort(abandoned)
      givePlaces()
      expect(await large).toHaveLength(3_000_000)
      expect(await asker.call('big', { bytes: 3_000_000 })).toHaveLength(3_000_000)
      expect(asker.failures).toEqual([])
    },
  )

  test('what comes before an answer belongs to that request', async () => {
    const { asker } = await up({ answers: 'events' })
    await asker.call('notify', { count: 3 })
    expect(asker.others.map(({ related }) => related)).toEqual(
      Array(3).fill({ request: asker.lastId }),
    )
  })

  test('what it says by itself comes on the GET stream, which is opened again from the last event', async () => {
    const { server, asker } = await up()
    await until(() => server.streams.size === 1)
    const [stream] = server.streams
    stream!.write('retry: 100\n')
    writeEvent(stream!, { method: 'notifications/tools/list_changed' }, 'e-7')
    await until(() => asker.others.length === 1)
    expect(asker.others[0]?.related).toEqual({})
    stream!.end()
    await until(() => server.seen.filter(({ method }) => method === 'GET').length === 2)
    expect(server.seen.at(-1)?.headers['last-event-id']).toBe('e-7')
  })

  test('and one without a GET stream (405) is fine', async () => {
    const { server, asker, entries } = await up({ getStream: false })
    expect(await asker.call('echo')).toBe('{}')
    await sleep(50)
    expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(1)
    expect(entries).toEqual([])
  })

  test('the client’s answer to a request of the server’s is posted like any message', async () => {
    const { server, asker, link } = await up()
    await until(() => server.streams.size === 1)
    writeEvent([...server.streams][0]!, { id: 'srv-1', method: 'roots/list' })
    await until(() => asker.others.length === 1)
    expect(asker.others[0]?.message).toMatchObject({ kind: 'request', id: 'srv-1' })
    link.send(writeResult('srv-1', '{"roots":[]}'))
    link.send(writeError('srv "2"', -32601, 'no'))
    await until(() => server.seen.filter(({ body }) => body.includes('"id":"srv')).length === 2)
    expect(asker.failures).toEqual([])
  })

  test('nothing overtakes notifications/initialized', async () => {
    const order: string[] = []
    const server = await serve({
      instead: (request, response, body) => {
        if (request.method !== 'POST' || !body.includes('notifications/initialized')) {
          if (isCall(body)) order.push('call')
          return false
        }
        setTimeout(() => {
          order.push('initialized')
          response.writeHead(202).end()
        }, 100)
        return true
      },
    })
    const { asker } = connect(server.url)
    await asker.initialize()
    await asker.call('echo')
    expect(order).toEqual(['initialized', 'call'])
  })
})

describe('headers', () => {
  test('are the configuration’s, the gate’s own, and trace context in its exact form', async () => {
    let token = 'Bearer one'
    const headers = { 'X-Team': 'blue', Accept: 'text/html', 'Mcp-Session-Id': 'mine' }
    const findCredential = (): MessageCredential => ({
      header: token,
      failure: undefined,
      help: '',
      ready: () => undefined,
      refused: async () => false,
      accepted() {},
    })
    const { server, asker } = await up({}, { headers, findCredential })
    token = 'Bearer two'
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await asker.result('ping', {}, { trace: { traceparent, tracestate: 'a=b' } })
    const sent = server.seen.at(-1)!.headers
    expect(sent).toMatchObject({ 'x-team': 'blue', traceparent, tracestate: 'a=b' })
    expect(sent).toMatchObject({ authorization: 'Bearer two', 'mcp-session-id': 's-1' })
    expect(sent.accept).toBe('application/json, text/event-stream')
    await asker.result('ping', {}, { trace: { traceparent: 'x\r\nEvil: 1', tracestate: 'a' } })
    expect(server.seen.at(-1)?.headers.traceparent).toBeUndefined()
    expect(server.seen.at(-1)?.headers.tracestate).toBeUndefined()
  })
})

describe('a request that fails', () => {
  const answering =
    (status: number, headers: Record<string, string> = {}, text = ''): Behaviour['instead'] =>
    (_, response, body) => {
      if (!isCall(body)) return false
      response.writeHead(status, headers).end(text)
      return true
    }
  const fails = async (instead: Behaviour['instead']) => {
    const { asker, link } = await up({ instead: instead! })
    const failure = await asker.ask('tools/call', { name: 'echo', arguments: {} })
    return { failure, asker, link }
  }

  test.each([401, 403])('with %i needs a login, and says the command', async (status) => {
    const challenge = 'Bearer resource_metadata="https://x/"'
    const { failure } = await fails(answering(status, { 'www-authenticate': challenge }))
    expect(failure).toMatchObject({
      code: 'UPSTREAM_NEEDS_LOGIN',
      help: 'run `sluice login fixture`',
      repeatable: false,
      status,
      challenge,
    })
  })

  test('with 403 for a scope names it, and the command that asks for it', async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="issues:write"'
    const { failure } = await fails(answering(403, { 'www-authenticate': challenge }))
    expect(failure).toMatchObject({
      code: 'UPSTREAM_NEEDS_SCOPE',
      message: 'the server `fixture` wants the scope `issues:write`',
      help: 'run `sluice login fixture --scope issues:write`',
    })
  })

  test('with 404 in a session: the session is gone, the request may be sent again', async () => {
    const { failure } = await fails(answering(404))
    const unsent = { text: expect.stringContaining('"tools/call"') }
    expect(failure).toMatchObject({ code: 'UPSTREAM_SESSION_GONE', repeatable: true, unsent })
  })

  test('with a redirect: it is reported and never followed', async () => {
    const elsewhere = await serve()
    const { failure } = await fails(answering(307, { location: elsewhere.url }))
    expect(failure).toMatchObject({ code: 'UPSTREAM_REDIRECT', status: 307, repeatable: false })
    expect((failure as { message: string }).message).toContain(elsewhere.url)
    expect(elsewhere.seen).toEqual([])
  })

  test('with 500: the status, and the beginning of what it said', async () => {
    const { failure } = await fails(answering(500, {}, `boom \u001b[2J ${'x'.repeat(100_000)}`))
    expect(failure).toMatchObject({ code: 'UPSTREAM_STATUS', status: 500, repeatable: false })
    const { message } = failure as { message: string }
    expect(message).toContain('HTTP 500: boom \\u{1b}[2J')
    expect(message.length).toBeLessThan(500)
  })

  test('with the server’s own error in a 400: that is its answer', async () => {
    const { failure } = await fails((_, response, body) => {
      if (!isCall(body)) return false
      const { id } = JSON.parse(body) as { id: number }
      const error = { code: -32602, message: 'no such tool' }
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      return true
    })
    expect(failure).toMatchObject({ kind: 'answer', error: { code: -32602 } })
  })

  test.each([
    ['no JSON', { 'content-type': 'application/json' }, 'hello'],
    [
      'a doubled key',
      { 'content-type': 'application/json' },
      '{"jsonrpc":"2.0","id":2,"id":2,"result":{}}',
    ],
    ['no answer', { 'content-type': 'text/plain' }, 'ok'],
    [
      'bytes nobody asked for',
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      'x',
    ],
    ['another alphabet', { 'content-type': 'application/json; charset=utf-16' }, 'x'],
  ])('with %s', async (_, headers, text) => {
    const { failure } = await fails(answering(200, headers, text))
    expect(failure).toMatchObject({ code: 'UPSTREAM_BAD_ANSWER', repeatable: false })
  })

  test.each(['json', 'events'] as const)('with more in %s than the gate reads', async (answers) => {
    const { asker } = await up({ answers })
    const failure = await asker.ask('tools/call', { name: 'big', arguments: { bytes: 4_300_000 } })
    expect(failure).toMatchObject({ code: 'UPSTREAM_TOO_LARGE', repeatable: false })
    expect(await asker.call('big', { bytes: 4_000_000 })).toHaveLength(4_000_000)
  })

  test.each(['json', 'events'] as const)('with more in %s than `max_message`', async (answers) => {
    const { asker } = await up({ answers }, { messageBytesMax: 2 * 1_048_576 })
    const failure = await asker.ask('tools/call', { name: 'big', arguments: { bytes: 2_200_000 } })
    expect(failure).toMatchObject({ code: 'UPSTREAM_TOO_LARGE', repeatable: false })
    expect((failure as { message: string }).message).toMatch(
      /2 MiB.*`max_message` \(at most 16MiB\)/,
    )
    expect(await asker.call('big', { bytes: 1_000_000 })).toHaveLength(1_000_000)
  })

  test('because nobody listens: no byte left, it may be sent again', async () => {
    const { asker } = connect('http://127.0.0.1:1/mcp')
    expect(await asker.ask('initialize')).toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      repeatable: true,
    })
  })

  test('because the certificate is not trusted: no byte left', async () => {
    const { asker } = connect((await serve()).url.replace('http:', 'https:'))
    const failure = await asker.ask('initialize')
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNREACHABLE', repeatable: true })
  })

  test('because the connection broke after it was sent: unknown, and sent only once', async () => {
    let arrived = 0
    const { failure } = await fails((request, _, body) => {
      if (!isCall(body)) return false
      arrived += 1
      request.socket.destroy()
      return true
    })
    expect(failure).toMatchObject({ code: 'UPSTREAM_OUTCOME_UNKNOWN', repeatable: false })
    await sleep(100)
    expect(arrived).toBe(1)
  })

  test('because its stream ended without the answer', async () => {
    const { failure } = await fails((_, response, body) => {
      if (!isCall(body)) return false
      response.writeHead(200, EVENTS).end(': nothing\n\n')
      return true
    })
    expect(failure).toMatchObject({ code: 'UPSTREAM_OUTCOME_UNKNOWN', repeatable: false })
  })

  test('because too many wait already', async () => {
    const { asker } = await up({ instead: (_, __, body) => isCall(body) })
    const all = Array.from({ length: HTTP_OPEN_EXCHANGES_MAX + 1 }, () =>
      asker.ask('tools/call', { name: 'echo', arguments: {} }),
    )
    expect(await all.at(-1)).toMatchObject({ code: 'UPSTREAM_BUSY', repeatable: true })
  })
})
