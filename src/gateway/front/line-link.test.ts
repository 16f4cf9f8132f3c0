// A client behind a pipe: its first request shows the era, and one that tried the newer era may begin
// a session after all. What is no message is answered, and the conversation goes on.

import { duplexPair } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { META, STATELESS_REVISION } from '../../wire/eras.ts'
import type { Message } from '../../wire/message.ts'
import type { ClientLink } from '../link.ts'
import { LineLink } from './line-link.ts'

function pipe() {
  const [near, far] = duplexPair()
  const sides: { side: ClientLink; got: Message[]; ended: string[] }[] = []
  const said: { id?: unknown; error?: { code: number; message: string } }[] = []
  let isEnded = false
  const link = new LineLink(near, {
    open: (side) => {
      const opened = { side, got: [] as Message[], ended: [] as string[] }
      side.onMessage = (message) => void opened.got.push(message)
      side.onClose = (reason) => void opened.ended.push(reason)
      sides.push(opened)
    },
    onEnd: () => {
      isEnded = true
    },
  })
  far.on('data', (chunk) => {
    for (const line of String(chunk).trim().split('\n')) said.push(JSON.parse(line))
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
  return { far, link, said, sides, write, isEnded: () => isEnded }
}

const META_OWN = { [META.version]: STATELESS_REVISION, [META.capabilities]: {} }
const DISCOVER = { id: 1, method: 'server/discover', params: { _meta: META_OWN } }
const INITIALIZE = { id: 2, method: 'initialize', params: { protocolVersion: '2025-11-25' } }

test('of either era, as the first request shows', async () => {
  const newer = pipe()
  await newer.write(DISCOVER, { id: 2, method: 'tools/list', params: {} })
  expect(newer.sides.map(({ side }) => side.era)).toEqual(['stateless'])
  expect(newer.said).toMatchObject([{ id: 2, error: { code: -32602 } }])
  const older = pipe()
  await older.write(INITIALIZE, DISCOVER)
  expect(older.sides.map(({ side }) => side.era)).toEqual(['session'])
  expect(older.said).toMatchObject([{ id: 1, error: { code: -32600 } }])
})

test('a session after all: the conversation before it ends, the pipe goes on', async () => {
  const { sides, write, link, isEnded } = pipe()
  await write(DISCOVER, INITIALIZE)
  expect(sides.map(({ side, got }) => [side.era, got.length])).toEqual([
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
  const { said, write, sides } = pipe()
  await write('nonsense', DISCOVER)
  expect(said).toMatchObject([{ error: { code: -32700 } }])
  expect(sides).toHaveLength(1)
})

test('whoever is behind a client that does not read is told, and again when it has', async () => {
  const { far, link, sides, write } = pipe()
  await write(INITIALIZE)
  far.pause()
  const told: [boolean, unknown][] = []
  const { side } = sides[0] as (typeof sides)[0]
  side.onPressure = (isFull, request) => void told.push([isFull, request])
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: { y: 'z'.repeat(400_000) } })
  for (let message = 0; message < 5; message++) expect(link.send(text)).toBe(true)
  expect(told).toEqual([[true, undefined]])
  far.resume()
  await vi.waitFor(
    () =>
      expect(told).toEqual([
        [true, undefined],
        [false, undefined],
      ]),
    20_000,
  )
})

test('a client that ends its input right behind its requests reads the answers first', async () => {
  const { far, sides, said, write, isEnded } = pipe()
  await write(INITIALIZE, { id: 3, method: 'tools/list', params: {} })
  far.end()
  await write()
  const side = sides[0]?.side as ClientLink
  expect([isEnded(), sides[0]?.ended]).toEqual([false, []])
  side.send('{"jsonrpc":"2.0","id":2,"result":{}}', { request: 2, answers: true })
  expect(isEnded()).toBe(false)
  side.send('{"jsonrpc":"2.0","id":3,"result":{}}', { request: 3, answers: true })
  await write()
  expect([isEnded(), said.map(({ id }) => id)]).toEqual([true, [2, 3]])
  expect(sides[0]?.ended).toEqual(['the client ended the session'])
})
