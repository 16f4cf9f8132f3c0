// A client behind a pipe: its first request shows the generation, and one that tried the newer generation may begin
// a session after all. What is no message is answered, and the conversation goes on.

import type { Socket } from 'node:net'
import { duplexPair, PassThrough } from 'node:stream'
import { LINE_BYTES_MAX } from '@sluice/protocol/json/limits'
import type { JsonRpcMessage } from '@sluice/protocol/message'
import { META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { describe, expect, test, vi } from 'vitest'
import { SOCKET_HELLO_BYTES_MAX } from '../../shared/limits.ts'
import { type ClientTransport, NO_CLIENT_EVENTS } from '../../shared/transport.ts'
import { CLIENT_BLANK_LINES_MAX, CLIENT_LINES_PER_TURN } from '../../shared/turn-limits.ts'
import { LineConnection } from './line-transport.ts'
import { readHello } from './socket-handshake.ts'

function pipeOf() {
  const [gate, near] = duplexPair()
  const sides: { got: JsonRpcMessage[] }[] = []
  let isOver = false
  const link = new LineConnection(gate, {
    open: () => {
      const got: JsonRpcMessage[] = []
      sides.push({ got })
      return { ...NO_CLIENT_EVENTS, onMessage: (message) => void got.push(message) }
    },
    onEnd: () => {
      isOver = true
    },
  })
  return { near, link, sides, isEnded: () => isOver }
}

interface OpenedSide {
  readonly side: ClientTransport
  readonly got: JsonRpcMessage[]
  readonly ended: string[]
  readonly pressed: [boolean, unknown][]
}

function pipe() {
  const [near, far] = duplexPair()
  const sides: OpenedSide[] = []
  const received: { id?: unknown; error?: { code: number; message: string } }[] = []
  let isEnded = false
  const link = new LineConnection(near, {
    open: (side) => {
      const opened: OpenedSide = { side, got: [], ended: [], pressed: [] }
      sides.push(opened)
      return {
        onPressure: (isFull, request) => void opened.pressed.push([isFull, request]),
        onMessage: (message) => void opened.got.push(message),
        onClose: (reason) => void opened.ended.push(reason),
      }
    },
    onEnd: () => {
      isEnded = true
    },
  })
  far.on('data', (chunk) => {
    for (const line of String(chunk).trim().split('\n')) received.push(JSON.parse(line))
  })
  link.start(Buffer.alloc(0))
  const write = async (...messages: (object | string)[]): Promise<void> => {
    for (const each of messages)
      far.write(
        `${typeof each === 'string' ? each : JSON.stringify({ jsonrpc: '2.0', ...each })}\n`,
      )
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { near, far, link, received, sides, write, isEnded: () => isEnded }
}

const META_OWN = { [META.version]: STATELESS_REVISION, [META.capabilities]: {} }
const DISCOVER = { id: 1, method: 'server/discover', params: { _meta: META_OWN } }
const INITIALIZE = { id: 2, method: 'initialize', params: { protocolVersion: '2025-11-25' } }

test('of either generation, as the first request shows', async () => {
  const newer = pipe()
  await newer.write(DISCOVER, { id: 2, method: 'tools/list', params: {} })
  expect(newer.sides.map(({ side }) => side.generation)).toEqual(['stateless'])
  expect(newer.received).toMatchObject([{ id: 2, error: { code: -32602 } }])
  const older = pipe()
  await older.write(INITIALIZE, DISCOVER)
  expect(older.sides.map(({ side }) => side.generation)).toEqual(['session'])
  expect(older.received).toMatchObject([{ id: 1, error: { code: -32600 } }])
})

test('a session after all: the conversation before it ends, the pipe goes on', async () => {
  const { sides, write, link, isEnded } = pipe()
  await write(DISCOVER, INITIALIZE)
  expect(sides.map(({ side, got }) => [side.generation, got.length])).toEqual([
    ['stateless', 1],
    ['session', 1],
  ])
  expect([sides[0]?.ended.length, sides[1]?.ended.length]).toEqual([1, 0])
  // What is left of the first has no say any more.
  sides[0]?.side.close('late')
  await write({ id: 3, method: 'tools/list' })
  expect(sides[1]?.got).toHaveLength(2)
  expect(isEnded()).toBe(false)
  link.close('over')
  expect([sides[0]?.ended.length, sides[1]?.ended]).toEqual([1, ['over']])
  expect(isEnded()).toBe(true)
})

test('what is no message is answered; what cannot be opened ends the pipe', async () => {
  const { received, write, sides } = pipe()
  await write('nonsense', DISCOVER)
  expect(received).toMatchObject([{ error: { code: -32700 } }])
  expect(sides).toHaveLength(1)
})

test('whoever is behind a client that does not read is told, and again when it has', async () => {
  const { far, link, sides, write } = pipe()
  await write(INITIALIZE)
  far.pause()
  const { pressed } = sides[0] as (typeof sides)[0]
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { y: 'z'.repeat(400_000) } })
  for (let message = 0; message < 5; message++) expect(link.send(text)).toBe(true)
  expect(pressed).toEqual([[true, undefined]])
  far.resume()
  await vi.waitFor(
    () =>
      expect(pressed).toEqual([
        [true, undefined],
        [false, undefined],
      ]),
    60_000,
  )
})

test('a client that ends its input right behind its requests reads the answers first', async () => {
  const { far, sides, received, write, isEnded } = pipe()
  await write(INITIALIZE, { id: 3, method: 'tools/list', params: {} })
  far.end()
  await write()
  const side = sides[0]?.side as ClientTransport
  expect([isEnded(), sides[0]?.ended]).toEqual([false, []])
  side.send('{"jsonrpc":"2.0","id":2,"result":{}}', { request: 2, answers: true })
  expect(isEnded()).toBe(false)
  side.send('{"jsonrpc":"2.0","id":3,"result":{}}', { request: 3, answers: true })
  await write()
  expect([isEnded(), received.map(({ id }) => id)]).toEqual([true, [2, 3]])
  expect(sides[0]?.ended).toEqual(['the client ended the session'])
})

describe('a hostile client of a pipe', () => {
  test('what is no message of lines is answered with why, and the next line is read', async () => {
    const { received, sides, far, write } = pipe()
    await write(INITIALIZE)
    const bytes = [
      Buffer.alloc(LINE_BYTES_MAX + 1, 'a'),
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from('{"jsonrpc":"2.0","id":9,"method":"ping\0"}\0'),
      Buffer.from('\ufeff{"jsonrpc":"2.0","id":9,"method":"ping"}'),
      Buffer.from('{"jsonrpc":"2.0","id":9,"method":"a"}\r{"jsonrpc":"2.0","id":9,"method":"b"}'),
      Buffer.from('[{"jsonrpc":"2.0","id":9,"method":"a"}]'),
    ]
    for (const each of bytes) {
      far.write(each)
      await write('')
    }
    await vi.waitFor(() => expect(received).toHaveLength(bytes.length), 60_000)
    expect(received.every(({ error }) => (error?.code ?? 0) < 0)).toBe(true)
    expect(sides[0]?.got).toHaveLength(1)
    await write({ id: 3, method: 'ping' })
    expect(sides[0]?.got).toHaveLength(2)
  })

  test('half a message at the end is none', async () => {
    const { far, sides, write, isEnded } = pipe()
    await write({ method: 'notifications/initialized' })
    far.end('{"jsonrpc":"2.0","id":3,"method":"tools/call"}')
    await vi.waitFor(() => expect(isEnded()).toBe(true), 60_000)
    expect(sides[0]?.got).toHaveLength(1)
  })

  test('an id that is open is not taken twice, and the first keeps it', async () => {
    const { received, sides, write } = pipe()
    await write(INITIALIZE, { id: 3, method: 'tools/list' }, { id: 3, method: 'tools/list' })
    expect(sides[0]?.got).toHaveLength(2)
    expect(received).toMatchObject([
      { id: null, error: { message: expect.stringContaining('open') } },
    ])
    sides[0]?.side.send('{"jsonrpc":"2.0","id":3,"result":{}}', { request: 3, answers: true })
    await write({ id: 3, method: 'tools/list' })
    expect(sides[0]?.got).toHaveLength(3)
  })

  test('one that floods and reads nothing is let go with all that waits for it', async () => {
    const { near, far, link, write, isEnded } = pipe()
    await write(INITIALIZE)
    far.pause()
    const text = JSON.stringify({ a: 'z'.repeat(4 * 1_048_576) })
    while (link.send(text));
    expect([isEnded(), near.destroyed]).toEqual([true, true])
  })
})

test('the first line of the socket byte by byte is put together once', async () => {
  const socket = new PassThrough() as unknown as Socket
  const concat = vi.spyOn(Buffer, 'concat')
  const read = readHello(socket)
  const line = Buffer.from(`{"do":"pipe","token":"${'t'.repeat(5_000)}"}\nrest`)
  for (const byte of line) socket.emit('data', Buffer.from([byte]))
  const { word, rest } = await read
  // What comes behind the line was not read any more.
  expect([word, rest.length]).toEqual(['pipe', 0])
  expect(concat).toHaveBeenCalledTimes(1)
  concat.mockRestore()
  const tooLong = readHello(socket)
  socket.emit('data', Buffer.alloc(SOCKET_HELLO_BYTES_MAX + 1, 'a'))
  await expect(tooLong).rejects.toThrow('more than 65536 bytes')
})

describe('F8: a pipe that floods gives others their turn', () => {
  test('lines are read a few a turn, in their order', async () => {
    const { near, link, sides } = pipeOf()
    let turns = 0
    const count = (): void => {
      turns++
      if (turns < 1_000) setImmediate(count)
    }
    setImmediate(count)
    const ping = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`
    const pings = Array.from({ length: 200 }, (_, at) => ping(at + 10)).join('')
    link.start(
      Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...INITIALIZE })}\n${'\n'.repeat(2_000)}`),
    )
    near.write(pings)
    await expect.poll(() => sides[0]?.got.length).toBe(201)
    const ids = sides[0]?.got.map((message) => ('id' in message ? message.id : undefined))
    expect(ids).toEqual([2, ...Array.from({ length: 200 }, (_, at) => at + 10)])
    expect(turns).toBeGreaterThan(2_200 / CLIENT_LINES_PER_TURN - 2)
  })

  test('and one of blank lines only is closed', async () => {
    const { isEnded, link } = pipeOf()
    link.start(Buffer.from('\n'.repeat(CLIENT_BLANK_LINES_MAX + 1)))
    await expect.poll(isEnded).toBe(true)
  })
})
