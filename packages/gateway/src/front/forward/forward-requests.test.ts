import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { RequestForwarder, readWhole } from './forward-requests.ts'
import { AGENTS_PATH, PeerListener } from './peer-listener.ts'

const keyOf = (gate: string): Buffer => hash('sha256', gate, 'buffer')
const open: { close(): void }[] = []
const { signal } = new AbortController()
const BODY = Buffer.from([0, 255, 10])

afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

/** Asks a gate `b` that answers by `take`. */
async function askPeer(
  take: (request: IncomingMessage, response: ServerResponse) => void,
  { silentMs = 0, until = signal }: { silentMs?: number; until?: AbortSignal } = {},
) {
  const listener = new PeerListener({
    gate: 'b',
    keyOf,
    host: '127.0.0.1',
    address: undefined,
    take,
  })
  const address = await listener.listen()
  const row = { address, state: 'ready', silentMs }
  const store = {
    find: async (gate: string) => (gate === 'b' ? row : undefined),
    ownerOf: async () => undefined,
    takeOver: async () => false,
  }
  const forwarder = new RequestForwarder({ gate: 'a', keyOf, store })
  open.push(forwarder, listener)
  return { row, answer: forwarder.askAgents('b', BODY, until) }
}

test('a gate is asked about agents, and answers in bytes', async () => {
  const { answer } = await askPeer(async (request, response) => {
    expect(request.url).toBe(AGENTS_PATH)
    response.end(Buffer.concat([await readWhole(request), BODY]))
  })
  expect(await answer).toEqual(Buffer.concat([BODY, BODY]))
})

test('a gate of another version is not asked again, and the error says what to do', async () => {
  const { answer } = await askPeer((_, response) => response.writeHead(404).end('{}'))
  await expect(answer).rejects.toThrow(
    'the gate `b` has another version: try again when both are upgraded',
  )
})

test('an answer that is too large is an error, and not asked for again', async () => {
  const { answer } = await askPeer((_, response) => {
    response.writeHead(200, { 'content-length': 200_000_000 }).write('much')
  })
  await expect(answer).rejects.toThrow('has 200000000 bytes, at most 134217728 are taken')
})

test('nothing was sent to a gate that is silent or stopping', async () => {
  let isAsked = false
  const take = () => {
    isAsked = true
  }
  expect(await (await askPeer(take, { silentMs: 60_000 })).answer).toBe('gone')
  expect(isAsked).toBe(false)
  const stopping = await askPeer((_, response) => response.writeHead(503).end())
  expect(await stopping.answer).toBe('gone')
})

test('the outcome is unknown if the gate goes away, falls silent or nobody waits any more', async () => {
  const broken = await askPeer((request) => request.socket.destroy())
  expect(await broken.answer).toBe('unknown')
  const halfway = await askPeer((_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('half', () => response.destroy())
  })
  expect(await halfway.answer).toBe('unknown')
  const silent = await askPeer(() => {
    silent.row.silentMs = 60_000
  })
  expect(await silent.answer).toBe('unknown')
  const ending = new AbortController()
  const ended = await askPeer(() => ending.abort(), { until: ending.signal })
  expect(await ended.answer).toBe('unknown')
})
