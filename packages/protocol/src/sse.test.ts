// Event streams from bytes: the standard's examples, every chunking of them, bounds, and a round
// trip through the encoder.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EVENT_FIELD_LENGTH_MAX, EVENT_IDLE_LINES_MAX, EVENT_RETRY_MS_MAX } from './json/limits.ts'
import { type EventLimits, EventParser, encodeEvent, readEvents } from './sse.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const decode = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Stream -> [event, data] of each event, or the code it is refused with. */
const STREAMS: [string, ([string, string] | string)[]][] = [
  ['data: a\n\n', [['message', 'a']]],
  ['data:a\r\n\r\n', [['message', 'a']]],
  ['data: a\r\r', [['message', 'a']]],
  ['data:  a \n\n', [['message', ' a ']]],
  ['data: YHOO\ndata: +2\ndata: 10\n\n', [['message', 'YHOO\n+2\n10']]],
  [
    'data\n\ndata\ndata\n\ndata:',
    [
      ['message', ''],
      ['message', '\n'],
    ],
  ],
  [': comment\n:\n\n: more\ndata: a\n: between\ndata: b\n\n', [['message', 'a\nb']]],
  [
    'event: add\ndata: 1\n\nevent: remove\ndata: 2\n\ndata: 3\n\n',
    [
      ['add', '1'],
      ['remove', '2'],
      ['message', '3'],
    ],
  ],
  ['event: x\n\ndata: a\n\n', [['message', 'a']]],
  ['event: x\nevent: y\nevent\ndata: a\n\n', [['message', 'a']]],
  ['Data: a\nDATA: b\n data: c\ndata : d\nfoo: e\n\n', []],
  ['\ufeffdata: a\n\n\ufeffdata: b\n\n', [['message', 'a']]],
  ['data: a', []],
  ['data: a\n', []],
  ['\n\n\n', []],
  [
    'data: {"a":1}\n\n\n\ndata: é😀\u2028\n\n',
    [
      ['message', '{"a":1}'],
      ['message', 'é😀\u2028'],
    ],
  ],
  ['data: a:b: c\n\n', [['message', 'a:b: c']]],
]

describe('parsing', () => {
  test.each(STREAMS)('%j', (stream, expected) => {
    const bytes = new TextEncoder().encode(stream)
    for (let size = 1; size <= bytes.length; size++)
      expect(parse(new EventParser(decode), bytes, size)).toEqual(expected)
  })

  test('ids persist until they change, and apply from the end of their event', () => {
    const parser = new EventParser(decode)
    const push = (text: string): unknown => parser.push(new TextEncoder().encode(text))
    expect(parser.lastEventId).toBeUndefined()
    push('id: 1\ndata: a\n')
    expect(parser.lastEventId).toBeUndefined()
    push('\n')
    expect(parser.lastEventId).toBe('1')
    push('data: b\n\n')
    expect(parser.lastEventId).toBe('1')
    push('id: 2\n\n')
    expect(parser.lastEventId).toBe('2')
    push('id: 3\0\ndata: c\n\n')
    expect(parser.lastEventId).toBe('2')
    push('id\ndata: c\n\n')
    expect(parser.lastEventId).toBe('')
  })

  test('retry is digits, and bounded', () => {
    const parser = new EventParser(decode)
    const retryAfter = (line: string): number | undefined => {
      parser.push(new TextEncoder().encode(`retry: ${line}\n`))
      return parser.retryMs
    }
    for (const line of ['', '1.5', '-1', '1e3', '٣', ' 5']) expect(retryAfter(line)).toBeUndefined()
    expect(retryAfter('0250')).toBe(250)
    expect(retryAfter('999999999999')).toBe(EVENT_RETRY_MS_MAX)
    expect(retryAfter('9'.repeat(400))).toBe(EVENT_RETRY_MS_MAX)
  })

  test.each<[string, Partial<EventLimits>, string]>([
    ['data:123456', { lengthMax: 5 }, 'WIRE_EVENT_SIZE'],
    ['data: 123\ndata: 12', { lengthMax: 5 }, 'WIRE_EVENT_SIZE'],
    ['data: 1234567890123\ndata: 1', { lengthMax: 5 }, 'WIRE_LINE_LENGTH'],
    [': 1234567890123\ndata: 1', { lengthMax: 5 }, 'WIRE_LINE_LENGTH'],
    ['data: 1234567890123\n: 1234567890123', { lengthMax: 5 }, 'WIRE_LINE_LENGTH'],
    ['data\ndata\ndata\ndata', { linesMax: 2 }, 'WIRE_EVENT_SIZE'],
    [`event: ${'e'.repeat(EVENT_FIELD_LENGTH_MAX + 1)}\ndata: 1`, {}, 'WIRE_EVENT_SIZE'],
    [`data: 1\nid: ${'i'.repeat(EVENT_FIELD_LENGTH_MAX + 1)}`, {}, 'WIRE_EVENT_SIZE'],
    ['data: \ud800', {}, 'WIRE_UTF8'],
  ])('%j is refused once by %j, and the next event is read', (event, limits, code) => {
    const stream = `data: a\n\nid: 7\n${event}\ndata: 9\n\ndata: b\n\n`
    const encoded = new TextEncoder().encode(stream)
    // TextEncoder writes U+FFFD for a lone surrogate: here a byte that is never in UTF-8.
    const bytes = encoded.map((byte) => (byte === 0xef ? 0xff : byte))
    for (const size of [1, 7, bytes.length]) {
      const parser = new EventParser(decode, limits)
      const expected = [['message', 'a'], code, ['message', 'b']]
      expect(parse(parser, bytes, size)).toEqual(expected)
      expect(parser.lastEventId).toBe('7')
    }
  })

  test('an event at its bounds is accepted', () => {
    const bytes = new TextEncoder().encode('data: 12\ndata: 34\n\ndata: 12345\n\n')
    const parser = new EventParser(decode, { lengthMax: 5, linesMax: 2 })
    expect(parse(parser, bytes, 3)).toEqual([
      ['message', '12\n34'],
      ['message', '12345'],
    ])
  })
})

describe('reading a body', () => {
  test('events with data, each with the last id; the priming event is none', async () => {
    const body = streamOf('id: 1\nretry: 5\ndata: \n\ndata: {"a":\ndata: 1}\n\nid: 2\ndata: b\n\n')
    const events = await readAll(readEvents(body, decode))
    expect(events.map(({ id, data }) => [id, data])).toEqual([
      ['1', '{"a":\n1}'],
      ['2', 'b'],
    ])
  })

  test('a reader that has its answer ends the stream', async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: a\n\n')),
      cancel: () => {
        isCancelled = true
      },
    })
    for await (const { data } of readEvents(body, decode)) {
      expect(data).toBe('a')
      break
    }
    expect(isCancelled).toBe(true)
  })

  test.each([
    ['data: 123456\n\n', 'a line has more than'],
    [':\n'.repeat(EVENT_IDLE_LINES_MAX + 1), 'lines, but no event'],
  ])('what is refused ends it: %.20j', async (text, why) => {
    const read = readAll(readEvents(streamOf(text), decode, { lengthMax: 5 }))
    await expect(read).rejects.toThrow(why)
  })
})

describe('encoding', () => {
  test('an event is its fields and one line of data', () => {
    expect(encodeEvent({ id: '1', event: 'message', data: '{\n"a":"\u2028"}' })).toBe(
      'id: 1\nevent: message\ndata: {"a":"\\u2028"}\n\n',
    )
    expect(encodeEvent({ data: '' })).toBe('data: \n\n')
  })

  test.each(['a\n', '\ra', 'a\r\ndata: b', 'a\0'])('%j is neither an id nor an event', (text) => {
    expect(() => encodeEvent({ id: text, data: '' })).toThrow('line break')
    expect(() => encodeEvent({ event: text, data: '' })).toThrow('line break')
  })

  test('round-trips for any value', () => {
    const word = fc.stringMatching(/^[a-z0-9: ]{1,9}$/)
    fc.assert(
      fc.property(
        word,
        word,
        fc.jsonValue(),
        fc.nat(3),
        fc.nat(30),
        (id, event, value, indent, size) => {
          const text = encodeEvent({ id, event, data: JSON.stringify(value, null, indent) })
          const parser = new EventParser(decode)
          const [parsed, ...rest] = parse(parser, new TextEncoder().encode(text), size + 1)
          expect([parsed?.[0], JSON.parse(parsed?.[1] ?? '')]).toEqual([
            event,
            JSON.parse(JSON.stringify(value)),
          ])
          expect(rest).toEqual([])
          expect(parser.lastEventId).toBe(id)
        },
      ),
    )
  })
})

async function readAll<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const value of values) all.push(value)
  return all
}

function streamOf(text: string): ReadableStream<Uint8Array> {
  return new Blob([text]).stream()
}

function parse(
  parser: EventParser,
  bytes: Uint8Array,
  size: number,
): ([string, string] | string)[] {
  const all: ([string, string] | string)[] = []
  for (let from = 0; from < bytes.length; from += size)
    for (const event of parser.push(bytes.subarray(from, from + size)))
      all.push(event.ok ? [event.event, event.data] : event.code)
  return all
}
