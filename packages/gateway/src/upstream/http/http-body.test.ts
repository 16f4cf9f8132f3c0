// Streams of events from a server that floods: how much of them is read in one turn.

import { EVENT_IDLE_LINES_MAX } from '@sluice/protocol/json/limits'
import { describe, expect, test } from 'vitest'
import { STREAM_UNITS_PER_EVENT, STREAM_UNITS_PER_TURN } from '../../shared/turn-limits.ts'
import { connect, EVENTS, isCall, serve, up } from './http.test-support.ts'
import { EventBody } from './http-body.ts'

function readerOf() {
  const seen = { messages: 0, junk: 0 }
  const onMessages = () => void seen.messages++
  const onJunk = () => void seen.junk++
  const events = { messageBytesMax: 1_048_576, onMessages, onJunk, onTooLarge: () => {} }
  const body = new EventBody(events, () => false)
  return { body, seen }
}

describe('F8: a stream of events is read a bounded number of lines a turn', () => {
  test.each([
    ['blank lines', '\n', 576],
    ['comments', ':\n', 576],
    ['lines that end in CR', '\r', 576],
    ['events', 'data: x\n\n', 256],
  ])('%s', (_, piece, linesMax) => {
    const { body, seen } = readerOf()
    const chunk = Buffer.from(piece.repeat(20_000))
    let turns = 0
    for (let rest: Buffer | undefined = chunk; rest !== undefined; turns++) {
      const before = body.parser.lineCount
      const count = seen.messages
      rest = body.push(rest)
      expect(body.parser.lineCount - before).toBeLessThanOrEqual(linesMax)
      expect(seen.messages - count).toBeLessThanOrEqual(
        2 * (STREAM_UNITS_PER_TURN / STREAM_UNITS_PER_EVENT),
      )
    }
    expect(turns).toBeGreaterThan(30)
    expect(seen.messages).toBe(piece.startsWith('data') ? 20_000 : 0)
  })

  test('also where each byte comes by itself', () => {
    const { body } = readerOf()
    let turns = 0
    for (let at = 0; at < 5_120; at++) if (body.push(Buffer.from('\n')) !== undefined) turns++
    expect(turns).toBe(10)
  })

  test('and one without an event is ended at the limit', () => {
    for (const piece of ['\n', ':x\n', 'id: 1\n\n', 'event: message\n']) {
      const { body, seen } = readerOf()
      const chunk = Buffer.from(piece.repeat(1_000))
      while (seen.junk === 0)
        for (let rest: Buffer | undefined = chunk; rest?.length; ) rest = body.push(rest)
      expect(body.parser.lineCount).toBeLessThanOrEqual(EVENT_IDLE_LINES_MAX + 64)
    }
  })

  test('a call that is answered so fails, and the next one is served', async () => {
    let isJunk = true
    const { asker } = await up({
      instead: (_, response, body) => {
        if (!isCall(body) || !isJunk) return false
        isJunk = false
        response.writeHead(200, EVENTS).end('\n'.repeat(EVENT_IDLE_LINES_MAX + 1_000))
        return true
      },
    })
    void asker.ask('tools/call', { name: 'echo', arguments: {} })
    await expect.poll(() => asker.failures).toMatchObject([{ code: 'UPSTREAM_BAD_ANSWER' }])
    expect(asker.failures[0]?.message).toContain(`more than ${EVENT_IDLE_LINES_MAX} lines`)
    expect(await asker.call('echo')).toBeDefined()
  })

  test('nothing is lost or out of order, and the end comes last', async () => {
    const server = await serve({
      instead: (_, response, body) => {
        if (!isCall(body)) return false
        const { id } = JSON.parse(body) as { id: number }
        const notices = Array.from({ length: 1_000 }, (_, data) =>
          JSON.stringify({
            jsonrpc: '2.0',
            method: 'notifications/message',
            params: { level: 'info', data },
          }),
        )
        const answer = JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: { content: [{ type: 'text', text: 'last' }] },
        })
        response
          .writeHead(200, EVENTS)
          .end([...notices, answer].map((each) => `data: ${each}\n\n`).join(''))
        return true
      },
    })
    const { asker, link } = connect(server.url)
    await asker.initialize()
    let turns = 0
    const count = (): void => {
      turns++
      if (!isOver) setImmediate(count)
    }
    let isOver = false
    setImmediate(count)
    const answer = asker.call('echo')
    setTimeout(() => {
      link.pause()
      setImmediate(() => link.resume())
    }, 1)
    expect(await answer).toBe('last')
    isOver = true
    const notified = asker.others.map(({ message }) =>
      'params' in message ? message.params?.value.data : undefined,
    )
    expect(notified).toEqual(Array.from({ length: 1_000 }, (_, data) => data))
    expect(turns).toBeGreaterThan(1_000 / (2 * (STREAM_UNITS_PER_TURN / STREAM_UNITS_PER_EVENT)))
  })
})
