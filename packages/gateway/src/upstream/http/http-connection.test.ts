// Connections to servers that misbehave on the wire: real sockets, told byte by byte what to say.

import { createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { HttpRequest } from './http-exchange.ts'
import { HttpExchange } from './http-exchange.ts'
import { HttpPools } from './http-pools.ts'

const pools = new HttpPools()
const closing: (() => void)[] = []

afterEach(() => {
  pools.close()
  for (const close of closing.splice(0)) close()
})

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** Says `answer` to every request; `connections` counts. */
async function serve(answer: (text: string, socket: Socket, nth: number) => void) {
  const seen = { connections: 0, requests: [] as string[], url: '' }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    seen.connections += 1
    sockets.add(socket.on('error', () => {}))
    socket.setEncoding('latin1').on('data', (text) => {
      seen.requests.push(String(text))
      answer(String(text), socket, seen.requests.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  seen.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  return seen
}

type SeenResponse = { body: string; status?: number; error?: Error; written: boolean }

function ask(
  url: string,
  more: Partial<HttpRequest> = {},
  onData: (exchange: HttpExchange) => void = () => {},
): Promise<SeenResponse> {
  return new Promise((resolve) => {
    const seen: SeenResponse = { body: '', written: false }
    const exchange = new HttpExchange(
      pools.to(url).calls,
      { method: 'POST', path: '/mcp', headers: {}, body: 'x', ...more },
      {
        onHead: (status) => Object.assign(seen, { status }),
        onData: (chunk) => {
          seen.body += chunk.toString('latin1')
          onData(exchange)
        },
        onEnd: () => resolve({ ...seen, written: exchange.written }),
        onError: (error) => resolve({ ...seen, error, written: exchange.written }),
      },
    )
  })
}

test('one connection carries one request after the other', async () => {
  const server = await serve((_, socket) => socket.write(OK))
  for (let index = 0; index < 5; index++) expect((await ask(server.url)).body).toBe('ok')
  expect(server.connections).toBe(1)
})

test('a connection whose reader waited is not used again: to its server it has been idle', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n'
  const server = await serve((_, socket) => {
    socket.write(`${head}o`)
    setTimeout(() => socket.write('k'), 5)
  })
  const wait = (exchange: HttpExchange) => {
    exchange.pause()
    exchange.resume()
  }
  expect((await ask(server.url, {}, wait)).body).toBe('ok')
  expect((await ask(server.url)).body).toBe('ok')
  expect(server.connections).toBe(2)
})

test('an answer behind the answer is nobody’s: the next request has another connection', async () => {
  const poison = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison'
  const server = await serve((_, socket, nth) => socket.write(nth === 1 ? OK + poison : OK))
  expect((await ask(server.url)).body).toBe('ok')
  expect((await ask(server.url)).body).toBe('ok')
  expect(server.connections).toBe(2)
})

test('what a free connection says unasked is nobody’s answer', async () => {
  let ended = (): void => {}
  const isEnded = new Promise<void>((resolve) => {
    ended = resolve
  })
  const server = await serve((_, socket, nth) => {
    socket.write(OK)
    if (nth > 1) return
    socket.once('close', ended)
    setTimeout(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 5)
  })
  await ask(server.url)
  await isEnded
  expect((await ask(server.url)).body).toBe('ok')
  expect(server.connections).toBe(2)
})

test('a response that two readers would cut differently breaks off, after it was written', async () => {
  const twice = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok'
  const server = await serve((_, socket) => socket.write(twice))
  const seen = await ask(server.url)
  expect(seen).toMatchObject({ written: true, body: '' })
  expect(seen.error?.message).toMatch('Transfer-Encoding and Content-Length')
})

test('a server that goes away in the middle', async () => {
  const half = 'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf'
  const server = await serve((_, socket) => socket.end(half))
  const seen = await ask(server.url)
  expect(seen).toMatchObject({ written: true, body: 'half' })
  expect(seen.error).toBeInstanceOf(Error)
})

test('nobody listens: nothing was written', async () => {
  expect(await ask('http://127.0.0.1:1')).toMatchObject({ written: false, error: {} })
})

test.each([
  ['a line break in a value', { headers: { 'x-a': 'b\r\nevil: 1' } }],
  ['a line break in a name', { headers: { 'x-a\r\nevil': '1' } }],
  ['another length', { headers: { 'Content-Length': '0' } }],
  ['another coding', { headers: { 'transfer-encoding': 'chunked' } }],
  ['a path that is two requests', { path: '/mcp HTTP/1.1\r\n\r\nGET /' }],
])('%s is refused before a byte is written', async (_, more) => {
  const server = await serve((__, socket) => socket.write(OK))
  expect(await ask(server.url, more)).toMatchObject({ written: false, error: {} })
  expect(server.requests).toEqual([])
})

test('a body that is not ASCII has its length in bytes', async () => {
  const server = await serve((_, socket) => socket.write(OK))
  expect((await ask(server.url, { body: 'ä€😀' })).body).toBe('ok')
  const [head, body = ''] = server.requests.join('').split('\r\n\r\n') as [string, string]
  expect(head).toMatch('content-length: 9')
  expect(Buffer.from(body, 'latin1').toString('utf8')).toBe('ä€😀')
})
