// Connections that are read by the gate itself before a real server of `node:http`, over real
// sockets: requests of both kinds cut and joined anyhow are answered once each and in order, and
// a client that is slow, goes away or sends too much does not affect others.

import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runs } from '../../../../../test/support/runs.ts'
import {
  CLIENT_KEEP_ALIVE_MS,
  CLIENT_LOOK_EVERY_MS,
  CLIENT_REQUEST_MS_MAX,
  PLAIN_REQUEST_BYTES_MAX,
} from '../../shared/limits.ts'
import type { ResponseWriter } from '../exchange/response-writer.ts'
import { UnreadResponses } from '../exchange/unread-answers.ts'
import { FastPathServer } from './connections.ts'
import { FastPathReader } from './request-reader.ts'

let server: Server
let connections: FastPathServer
let answer: (body: string, reply: ResponseWriter) => void
let onOpen: (socket: Socket) => void = () => {}
const open: Socket[] = []

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  answer = (body, reply) => reply.send(200, {}, `gate ${body}`)
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => response.end(`node ${body}`))
  })
  connections = new FastPathServer(server, 'connection', {
    onOpen: (socket) => onOpen(socket),
    onRequest: (_head, body, _socket, reply) => answer(body.toString(), reply),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => {
  vi.useRealTimers()
  for (const socket of open.splice(0)) socket.destroy()
  connections.close()
  server.closeAllConnections()
  server.close()
})

/** A client of bytes; `received` is all that came back so far. */
function client() {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
  open.push(socket)
  const seen = { socket, received: '', isClosed: false }
  socket.setEncoding('utf8').on('data', (chunk) => {
    seen.received += chunk
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    seen.isClosed = true
  })
  return seen
}

const plain = (body: string): string =>
  `POST /mcp/a HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const chunked = (body: string): string =>
  `POST /mcp/a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

const bodiesIn = (received: string): string[] => received.match(/(?:gate|node) b\d+/g) ?? []
const until = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: 20_000, interval: 5 })
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('connections beyond the bound', () => {
  test('of whoever says nothing, or never all of it, make room for the next', async () => {
    connections.close()
    server.removeAllListeners('connection')
    const take = (_head: unknown, body: string | Buffer, _socket: Socket, reply: ResponseWriter) =>
      reply.send(200, {}, `gate ${body}`)
    connections = new FastPathServer(server, 'connection', {
      onRequest: take,
      onUnread: undefined,
      most: 3,
    })
    const slow = client()
    slow.socket.write('POST /mcp/a HTTP/1.1\r\nhost: a\r\n')
    const silent = client()
    const busy = client()
    busy.socket.write(plain('b0'))
    await until(() => expect(bodiesIn(busy.received)).toEqual(['gate b0']))
    vi.advanceTimersByTime(3 * CLIENT_LOOK_EVERY_MS)
    busy.socket.write(plain('b1'))
    await until(() => expect(bodiesIn(busy.received)).toHaveLength(2))
    const more = [client(), client()]
    for (const [at, each] of more.entries()) each.socket.write(plain(`b${at}`))
    await until(() => expect(more.every(({ received }) => received.includes('gate'))).toBe(true))
    await until(() => expect([slow.isClosed, silent.isClosed]).toEqual([true, true]))
    expect(busy.isClosed).toBe(false)
  })
})

describe('requests', () => {
  test('of both kinds, cut and joined anyhow, are answered once each and in order', async () => {
    const piece = fc.record({ isPlain: fc.boolean(), cut: fc.nat(120), waits: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (pieces) => {
        const seen = client()
        const { socket } = seen
        answer = (body, reply) => {
          if (pieces[Number(body.slice(1))]?.waits)
            setImmediate(() => reply.send(200, {}, `gate ${body}`))
          else reply.send(200, {}, `gate ${body}`)
        }
        for (const [at, { isPlain, cut }] of pieces.entries()) {
          const text = isPlain ? plain(`b${at}`) : chunked(`b${at}`)
          socket.write(text.slice(0, cut))
          await turn()
          socket.write(text.slice(cut))
        }
        await until(() => expect(bodiesIn(seen.received)).toHaveLength(pieces.length))
        // From the first that is not plain on they are all read by node:http.
        const firstOther = pieces.findIndex(({ isPlain }) => !isPlain)
        const isOurs = (at: number) => firstOther < 0 || at < firstOther
        expect(bodiesIn(seen.received)).toEqual(
          pieces.map((_, at) => `${isOurs(at) ? 'gate' : 'node'} b${at}`),
        )
        socket.destroy()
      }),
      runs(30),
    )
  })

  test('in one write are answered one after the other, however late', async () => {
    const waiting: (() => void)[] = []
    answer = (body, reply) => waiting.push(() => reply.send(200, {}, `gate ${body}`))
    const seen = client()
    seen.socket.write(plain('b0') + plain('b1') + chunked('b2'))
    await until(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await until(() => expect(waiting).toHaveLength(2))
    await until(() => expect(bodiesIn(seen.received)).toEqual(['gate b0']))
    waiting[1]?.()
    await until(() => expect(bodiesIn(seen.received)).toEqual(['gate b0', 'gate b1', 'node b2']))
  })

  test('keep their bytes while other connections receive', async () => {
    const bodies: (string | Buffer)[] = []
    connections.close()
    server.removeAllListeners('connection')
    connections = new FastPathServer(server, 'connection', {
      onRequest: (_head, body, _socket, reply) => {
        bodies.push(body)
        reply.send(200, {})
      },
    })
    const sent = ['\u00e4'.repeat(9), '\u00fc'.repeat(9), 'ascii']
    for (const [at, text] of sent.entries()) {
      const bytes = Buffer.from(plain(text), 'latin1')
      client().socket.write(bytes)
      await until(() => expect(bodies).toHaveLength(at + 1))
    }
    expect(bodies.map((body) => Buffer.from(body as string, 'latin1').toString('latin1'))).toEqual(
      sent,
    )
  })

  test('in a stream that is over, nothing can be said into the next answer', async () => {
    const replies: ResponseWriter[] = []
    answer = (_body, reply) => replies.push(reply)
    const seen = client()
    seen.socket.write(plain('b0') + plain('b1'))
    await until(() => expect(replies).toHaveLength(1))
    const [first] = replies as [ResponseWriter]
    first.begin(200, { 'content-type': 'text/event-stream' })
    first.write('data: é\n\n')
    first.end()
    await until(() => expect(replies).toHaveLength(2))
    first.write('late')
    first.send(200, {}, 'late')
    first.end()
    replies[1]?.send(202, {})
    await until(() => expect(seen.received).toContain('202 Accepted'))
    expect(seen.received).toContain(
      'transfer-encoding: chunked\r\n\r\na\r\ndata: é\n\n\r\n0\r\n\r\n',
    )
    expect(seen.received).not.toContain('late')
  })

  test('a header that would be two is refused, not sent', async () => {
    const failed = vi.fn()
    answer = (_body, reply) => {
      try {
        reply.send(200, { 'x-a': 'b\r\nx-c: d' })
      } catch {
        failed()
        reply.send(500, {})
      }
    }
    const seen = client()
    seen.socket.write(plain('b0'))
    await until(() => expect(seen.received).toMatch(/^HTTP\/1\.1 500 /))
    expect(failed).toHaveBeenCalledOnce()
  })
})

describe('a client that', () => {
  test('goes away is told of, once', async () => {
    const gone = vi.fn()
    const asked = new Promise<void>((resolve) => {
      answer = (_body, reply) => {
        reply.whenGone(gone)
        resolve()
      }
    })
    const seen = client()
    seen.socket.write(plain('b0'))
    await asked
    seen.socket.destroy()
    await until(() => expect(gone).toHaveBeenCalledOnce())
  })

  test('sends a request byte by byte for too long is told so and ended', async () => {
    const seen = client()
    seen.socket.write(plain('b0').slice(0, 30))
    await until(async () => {
      vi.advanceTimersByTime(CLIENT_LOOK_EVERY_MS)
      await turn()
      expect(seen.isClosed).toBe(true)
    })
    expect(performance.now()).toBeGreaterThanOrEqual(CLIENT_REQUEST_MS_MAX)
    expect(seen.received).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('says nothing is ended, but not while it waits for an answer', async () => {
    const replies: ResponseWriter[] = []
    answer = (_body, reply) => replies.push(reply)
    const [idle, waiting] = [client(), client()]
    waiting.socket.write(plain('b0'))
    await until(() => expect(replies).toHaveLength(1))
    vi.advanceTimersByTime(CLIENT_KEEP_ALIVE_MS + CLIENT_LOOK_EVERY_MS)
    await until(() => expect(idle.isClosed).toBe(true))
    replies[0]?.send(200, {}, 'gate b0')
    await until(() => expect(bodiesIn(waiting.received)).toEqual(['gate b0']))
  })

  test('sends on and on before its answer is read no further', async () => {
    let reply: ResponseWriter | undefined
    answer = (_body, given) => {
      reply ??= given
    }
    const seen = client()
    seen.socket.write(plain('b0'))
    await until(() => expect(reply).toBeDefined())
    const piece = Buffer.alloc(PLAIN_REQUEST_BYTES_MAX, 'a')
    for (let count = 0; count < 200; count++) {
      seen.socket.write(piece)
      await turn()
    }
    expect(seen.socket.writableLength).toBeGreaterThan(PLAIN_REQUEST_BYTES_MAX)
    reply?.send(200, {}, 'gate b0')
    // It is no request, as node:http says.
    await until(() => expect(seen.received).toMatch(/gate b0HTTP\/1\.1 400 /))
  })
})

test('at the end the open answers are given, and then the connections end', async () => {
  const replies: ResponseWriter[] = []
  answer = (_body, reply) => replies.push(reply)
  const [idle, waiting] = [client(), client()]
  waiting.socket.write(plain('b0'))
  await until(() => expect(replies).toHaveLength(1))
  const closed = new Promise((resolve) => server.close(resolve))
  connections.stopTaking()
  await until(() => expect(idle.isClosed).toBe(true))
  replies[0]?.send(200, {}, 'gate b0')
  await closed
  expect(waiting.received).toMatch(/connection: close[\s\S]*gate b0$/)
})

describe('a client that is slow on purpose', () => {
  test('byte by byte: what came is not looked through for every byte', async () => {
    const { socket, seen } = await accepted()
    const read = vi.spyOn(FastPathReader.prototype, 'read')
    const body = 'x'.repeat(20_000)
    const many = `${'a: b\r\n'.repeat(200)}`
    for (const text of [plain(body), `POST /mcp HTTP/1.1\r\nhost: a\r\n${many}`]) {
      read.mockClear()
      for (const byte of Buffer.from(text)) socket.emit('data', Buffer.from([byte]))
      expect(read.mock.calls.length).toBeLessThan(200)
    }
    read.mockRestore()
    await until(() => expect(seen.received).toContain(`gate ${body}`))
  })

  test('that reads no answer is not read either, until it does', async () => {
    const big = 'y'.repeat(4_000_000)
    let asked = 0
    answer = (_, reply) => {
      asked += 1
      reply.send(200, {}, big)
    }
    const slow = client()
    slow.socket.pause()
    slow.socket.write(plain('b1').repeat(1_000))
    await until(() => expect(asked).toBeGreaterThan(0))
    for (let turns = 0; turns < 20; turns++) await turn()
    // As much as the kernel takes, and one more.
    expect(asked).toBeLessThan(10)
    const before = asked
    slow.socket.resume()
    await until(() => expect(asked).toBeGreaterThan(before + 10))
  })

  test('that reads nothing is ended where all unread answers together are too many', async () => {
    const { socket: first } = await accepted()
    const { socket: second } = await accepted()
    const unread = new UnreadResponses(30_000_000)
    const owe = (socket: Socket): void => {
      socket.write('z'.repeat(16_000_000))
      unread.add(socket)
    }
    owe(first)
    expect(first.destroyed).toBe(false)
    owe(second)
    expect([first.destroyed, second.destroyed]).toEqual([true, false])
  })
})

/** A client that does not read yet, and the gate's side of its connection. */
async function accepted() {
  const arrived = new Promise<Socket>((resolve) => {
    onOpen = resolve
  })
  const seen = client()
  const socket = await arrived
  return { socket, seen }
}
