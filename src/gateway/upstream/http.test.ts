// Links over HTTP to servers started here (test/servers/http.ts) and to a published one: what is
// sent, what comes back, and what every way of failing means for the request that failed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer as createTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Behaviour,
  type HttpFixture,
  serveHttp,
  writeEvent,
} from '../../../test/servers/http.ts'
import { writeNotification } from '../../wire/write-message.ts'
import { HTTP_OPEN_EXCHANGES_MAX } from '../limits.ts'
import { Asker, keepLog, until } from './ask.test-support.ts'
import { connectHttpServer, type HttpLink, type HttpServerOptions } from './http.ts'
import { HttpPools } from './http-pools.ts'

const pools = new HttpPools()
const links: HttpLink[] = []
const servers: { close(): unknown }[] = []

afterEach(async () => {
  for (const link of links) link.close('the test is over')
  await Promise.all(links.splice(0).map((link) => link.ended))
  await Promise.all(servers.splice(0).map((server) => server.close()))
  await pools.close()
})

function connect(url: string, more: Partial<HttpServerOptions> = {}) {
  const kept = keepLog()
  const link = connectHttpServer({ name: 'fixture', url, pools, log: kept.log, ...more })
  links.push(link)
  return { asker: new Asker(link), link, ...kept }
}

async function serve(behaviour: Partial<Behaviour> = {}): Promise<HttpFixture> {
  const server = await serveHttp(behaviour)
  servers.push(server)
  return server
}

async function up(behaviour: Partial<Behaviour> = {}, more: Partial<HttpServerOptions> = {}) {
  const server = await serve(behaviour)
  const connected = connect(server.url, more)
  await connected.asker.initialize()
  return { server, ...connected }
}

const EVENTS = { 'content-type': 'text/event-stream' }
const isCall = (body: string): boolean => body.includes('"tools/call"')

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
    const { server, asker } = await up({}, { headers, authorization: () => token })
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

  test('with 404 in a session: the session is gone, the request may be sent again', async () => {
    const { failure, asker, link } = await fails(answering(404))
    expect(failure).toMatchObject({ code: 'UPSTREAM_SESSION_GONE', repeatable: true })
    expect(await asker.closed).toBe('session gone')
    expect(link.failure?.code).toBe('UPSTREAM_SESSION_GONE')
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
    const failure = await asker.ask('tools/call', { name: 'big', arguments: { bytes: 17_000_000 } })
    expect(failure).toMatchObject({ code: 'UPSTREAM_TOO_LARGE', repeatable: false })
    expect(await asker.call('big', { bytes: 8_000_000 })).toHaveLength(8_000_000)
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

describe('streams', () => {
  test('an answer whose stream broke off comes on the stream that goes on from the last event', async () => {
    let call: { id: number } | undefined
    const server = await serve({
      instead: (request, response, body) => {
        if (isCall(body)) {
          call = JSON.parse(body) as { id: number }
          response.writeHead(200, EVENTS).end('id: first\nretry: 100\ndata:\n\n')
          return true
        }
        if (request.headers['last-event-id'] !== 'first') return false
        response.writeHead(200, EVENTS)
        writeEvent(response, { method: 'notifications/message', params: { data: 1 } })
        writeEvent(response, {
          id: call?.id,
          result: { content: [{ type: 'text', text: 'late' }] },
        })
        return true
      },
    })
    const { asker } = connect(server.url)
    await asker.initialize()
    expect(await asker.call('echo')).toBe('late')
    expect(asker.others[0]?.related).toEqual({ request: asker.lastId })
  })

  test('abort ends the exchange of that request, and no other', async () => {
    const ended: unknown[] = []
    const { asker, link } = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        response.writeHead(200, EVENTS).flushHeaders()
        response.on('close', () => ended.push((JSON.parse(body) as { id: number }).id))
        return true
      },
    })
    void asker.ask('tools/call', { name: 'a' })
    void asker.ask('tools/call', { name: 'b' })
    await sleep(100)
    link.abort(asker.lastId)
    await until(() => ended.length === 1)
    expect(ended).toEqual([asker.lastId])
    await sleep(50)
    expect(ended).toHaveLength(1)
    expect(asker.failures).toEqual([])
  })

  test('a receiver that pauses stops the server; nothing is lost', async () => {
    let written = 0
    const data = 'y'.repeat(60_000)
    const { asker, link } = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        const { id } = JSON.parse(body) as { id: number }
        response.writeHead(200, EVENTS)
        const pour = (): void => {
          while (written < 500) {
            written += 1
            const params = { level: 'info', data, written }
            if (!writeEvent(response, { method: 'notifications/message', params }))
              return void response.once('drain', pour)
          }
          writeEvent(response, { id, result: { content: [] } })
          response.end()
        }
        pour()
        return true
      },
    })
    link.pause()
    const answer = asker.ask('tools/call', { name: 'a' })
    await sleep(500)
    const seen = asker.others.length
    expect(seen).toBeLessThan(3)
    expect(written).toBeLessThan(300)
    link.resume()
    expect(await answer).toMatchObject({ kind: 'answer' })
    expect(asker.others).toHaveLength(500)
  })

  test('a server that floods a stream is slowed down, and memory stays bounded', async () => {
    const flooding = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        response.writeHead(200, EVENTS)
        const event = { method: 'notifications/message', params: { data: 'y'.repeat(200) } }
        const pour = (): void => {
          for (let n = 0; n < 100; n += 1)
            if (!writeEvent(response, event)) return void response.once('drain', pour)
          setImmediate(pour)
        }
        pour()
        return true
      },
    })
    let received = 0
    flooding.link.onMessage = () => {
      received += 1
    }
    void flooding.asker.ask('tools/call', { name: 'a' })
    await sleep(500)
    const before = process.memoryUsage().rss
    const other = await up()
    const began = performance.now()
    let calls = 0
    while (performance.now() - began < 1_500) {
      await other.asker.call('echo')
      calls += 1
    }
    expect(calls).toBeGreaterThan(100)
    expect((process.memoryUsage().rss - before) / 1_048_576).toBeLessThan(64)
    expect(received).toBeLessThan(10_000)
  })

  test('a server that never ends its streams does not take every connection', async () => {
    let open = 0
    const { asker } = await up({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        open += 1
        response.on('close', () => {
          open -= 1
        })
        response.writeHead(200, EVENTS)
        const { id } = JSON.parse(body) as { id: number }
        writeEvent(response, { id, result: { content: [{ type: 'text', text: 'x' }] } })
        return true
      },
    })
    for (let n = 0; n < 50; n += 1) await asker.call('echo')
    await until(() => open < 20)
  })
})

describe('the transport of 2024-11-05', () => {
  async function serveOld(
    endpoint: string,
  ): Promise<{ url: string; posts: string[]; end(): void }> {
    const posts: string[] = []
    let stream: import('node:http').ServerResponse | undefined
    const server = createServer((request, response) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, EVENTS)
        stream.write(`event: endpoint\ndata: ${endpoint}\n\n`)
        return
      }
      if (request.url === '/sse') return void response.writeHead(405).end('Cannot POST /sse')
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        posts.push(request.url ?? '')
        response.writeHead(202).end('Accepted')
        const { id, method } = JSON.parse(body) as { id?: number; method: string }
        const result =
          method === 'initialize'
            ? { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: {} }
            : { content: [{ type: 'text', text: 'old' }] }
        if (id !== undefined) writeEvent(stream!, { id, result })
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const close = (): void => {
      server.closeAllConnections()
      server.close()
    }
    servers.push({ close })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
    return { url, posts, end: () => void stream?.end() }
  }

  test('is spoken where POST is refused and GET names an endpoint', async () => {
    const { url, posts, end } = await serveOld('/messages?sessionId=1')
    const { asker, link } = connect(url)
    await asker.initialize('2024-11-05')
    expect(await asker.call('echo')).toBe('old')
    expect(new Set(posts)).toEqual(new Set(['/messages?sessionId=1']))
    end()
    expect(await asker.closed).toBe('session gone')
    expect(link.failure?.code).toBe('UPSTREAM_SESSION_GONE')
  })

  test('an endpoint on another host gets nothing', async () => {
    const elsewhere = await serve()
    const { url } = await serveOld(elsewhere.url)
    const { asker, link } = connect(url, { headers: { authorization: 'secret' } })
    void asker.ask('initialize')
    expect(await asker.closed).toContain('names an endpoint on another host')
    expect(link.failure?.code).toBe('UPSTREAM_REDIRECT')
    expect(elsewhere.seen).toEqual([])
  })

  test('where there is none either, the first refusal counts', async () => {
    const server = await serve({
      instead: (_, response) => {
        response.writeHead(404).end('nothing here')
        return true
      },
    })
    const { asker } = connect(server.url)
    expect(await asker.ask('initialize')).toMatchObject({ code: 'UPSTREAM_STATUS', status: 404 })
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })
})

describe('a published server', () => {
  test('everything, over Streamable HTTP: list, call, progress, and its DELETE', async () => {
    const file = createRequire(import.meta.url).resolve(
      '@modelcontextprotocol/server-everything/dist/index.js',
    )
    const probe = createTcp().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    await new Promise((resolve) => probe.close(resolve))
    const child = spawn(process.execPath, [file, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.stdout.on('data', (chunk) => {
      said += chunk
    })
    try {
      await until(() => said.includes(String(port)))
      const { asker, link } = connect(`http://127.0.0.1:${port}/mcp`)
      await asker.initialize()
      const { tools } = (await asker.result('tools/list')) as { tools: { name: string }[] }
      expect(tools.length).toBeGreaterThan(5)
      expect(await asker.call('echo', { message: 'hi' })).toContain('hi')
      await asker.result('tools/call', {
        name: 'trigger-long-running-operation',
        arguments: { duration: 0.3, steps: 3 },
        _meta: { progressToken: 'p' },
      })
      const progress = asker.others.filter(
        ({ message }) => 'method' in message && message.method === 'notifications/progress',
      )
      expect(progress.length).toBeGreaterThan(1)
      expect(progress[0]?.related).toEqual({ request: asker.lastId })
      link.close('done')
      await link.ended
    } finally {
      child.kill('SIGKILL')
    }
  })
})
