// Servers of models that answer without end, packed so that little is much, or send us elsewhere.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { MODEL_ANSWER_BYTES_MAX } from '../shared/limits.ts'
import { boundedEventFetch, boundedFetch } from './bounded-fetch.ts'

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('an answer without end is given up', async () => {
  const piece = Buffer.alloc(1_048_576, 'x')
  const url = await serve((_, response) => {
    const more = (): void => void response.write(piece, (error) => error ?? setImmediate(more))
    more()
  })
  const answer = await boundedFetch(url)
  await expect(answer.text()).rejects.toThrow(/more than \d+ bytes/)
})

test('a bomb of gzip counts as what it unpacks to', async () => {
  const bomb = gzipSync(Buffer.alloc(MODEL_ANSWER_BYTES_MAX + 1))
  const url = await serve((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  )
  const answer = await boundedFetch(url)
  await expect(answer.text()).rejects.toThrow(/more than \d+ bytes/)
})

test('F9: an answer of a million values is given up, and not parsed', async () => {
  const url = await serve((_, response) => response.end(`[${'1,'.repeat(1_000_000)}1]`))
  const answer = await boundedFetch(url)
  await expect(answer.json()).rejects.toThrow(/more than \d+ values/)
})

test('an answer of lists in lists is given up, and not parsed', async () => {
  const url = await serve((_, response) => response.end('['.repeat(1_000_000)))
  for (const get of [boundedFetch, boundedEventFetch])
    await expect((await get(url)).text()).rejects.toThrow(/more than \d+ values/)
})

test('of a stream every event is bounded by itself, an error as a whole', async () => {
  const event = (values: number) => `data: [${'1,'.repeat(values)}1]\r\n\r\n`
  const url = await serve((request, response) => {
    const { pathname: path } = new URL(request.url ?? '', 'http://x')
    response.writeHead(path === '/error' ? 500 : 200, { 'content-type': 'text/event-stream' })
    const isOne = path === '/one'
    response.end(isOne ? event(60_000).replaceAll('1,1,', '1,\r\n1,') : event(20_000).repeat(5))
  })
  expect((await (await boundedEventFetch(url)).text()).length).toBeGreaterThan(200_000)
  for (const path of ['one', 'error']) {
    const answer = await boundedEventFetch(`${url}${path}`)
    await expect(answer.text()).rejects.toThrow(/more than \d+ values/)
  }
  // The type that a server gives its answer changes nothing: this one is parsed whole.
  await expect((await boundedFetch(url)).text()).rejects.toThrow(/more than \d+ values/)
})

test('a redirect is not followed: the conversation stays where it was sent', async () => {
  let isReached = false
  const elsewhere = await serve((_, response) => {
    isReached = true
    response.end('{}')
  })
  const url = await serve((_, response) => response.writeHead(307, { location: elsewhere }).end())
  await expect(boundedFetch(url, { method: 'POST', body: '{}' })).rejects.toThrow()
  expect(isReached).toBe(false)
})

test('any other answer is as it was', async () => {
  const url = await serve((_, response) =>
    response.writeHead(429, { 'retry-after': '3' }).end('{"a":1}'),
  )
  const answer = await boundedFetch(url)
  expect(answer.status).toBe(429)
  expect(answer.headers.get('retry-after')).toBe('3')
  expect(await answer.json()).toEqual({ a: 1 })
})
