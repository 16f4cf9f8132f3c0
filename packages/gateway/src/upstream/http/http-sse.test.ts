// The transport of 2024-11-05 towards a server: spoken where nothing else is, and not to be led
// anywhere else by what the server's stream says.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { writeEvent } from '../../../../../test/servers/http.ts'
import { connect, EVENTS, serve, servers } from './http.test-support.ts'

describe('the transport of 2024-11-05', () => {
  /** `text` is what its stream begins with: an endpoint, or the very bytes. */
  async function serveOld(
    text: string | Buffer,
  ): Promise<{ url: string; posts: string[]; end(): void }> {
    const posts: string[] = []
    let stream: ServerResponse | undefined
    const server = createServer((request, response) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, EVENTS)
        const endpoint = String(text).replace('PORT', String(request.socket.localPort))
        stream.write(Buffer.isBuffer(text) ? text : `event: endpoint\ndata: ${endpoint}\n\n`)
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

  test.each([
    'https://127.0.0.1:PORT/x',
    'http://127.0.0.1:1/x',
    'http://ann:secret@127.0.0.1:PORT/x',
    'http://ann@127.0.0.1:PORT/x',
    'blob:http://127.0.0.1:PORT/x',
    'javascript:alert(1)',
    'file:///x',
    '//evil.example/x',
    '\\\\evil.example/x',
    `/${'x'.repeat(5_000)}`,
    'http://[',
  ])('an endpoint that is not plainly on the host is none: %s', async (endpoint) => {
    const { url } = await serveOld(endpoint)
    const { asker, link } = connect(url)
    void asker.ask('initialize')
    expect(await asker.closed).toContain('names an endpoint on another host')
    expect(link.failure?.code).toBe('UPSTREAM_REDIRECT')
  })

  test('a stream full of tricks: the first endpoint counts, and nothing else is one', async () => {
    const tricks = [
      '\ufeff: a comment\r',
      `:${'c'.repeat(200_000)}\n`,
      'retry: -1\nretry: 99999999999999999999\nretry: 1e9\n',
      'id: a\0b\nevent: endpoint\ndata\r\n: no data yet\r',
      `id: ${'i'.repeat(2_000)}\nevent: endpoint\ndata: /too-large\n\n`,
      'event: Endpoint\ndata: /wrong-case\n\n',
      'event : endpoint\ndata: /wrong-name\n\n',
      'event:endpoint\rdata:/messages\r\n\r\n',
      'event: endpoint\ndata: /second\n\n',
      'event: endpoint\ndata: http://evil.example/\n\n',
      'data: {"jsonrpc":"2.0","id":1,\ndata: "result":{}}\n\nnonsense\n\n',
    ]
    const { url, posts } = await serveOld(Buffer.from(tricks.join('')))
    const { asker } = connect(url)
    await asker.initialize('2024-11-05')
    expect(await asker.call('echo')).toBe('old')
    expect(new Set(posts)).toEqual(new Set(['/messages']))
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
    expect(await asker.ask('initialize')).toMatchObject({
      code: 'UPSTREAM_STATUS',
      status: 404,
      help: expect.stringContaining('check the path in the `url`'),
    })
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })
})
