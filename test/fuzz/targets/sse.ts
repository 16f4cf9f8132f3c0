// The parser of event streams: chunk boundaries change nothing, no event has a line break where the
// standard has none, and what the encoder writes is read back.

import { decodeUtf8 } from '../../../packages/gateway/src/shared/decode-utf8.ts'
import { EventParser, encodeEvent } from '../../../packages/protocol/src/sse.ts'

export const seeds = [
  'id: 1\nevent: message\ndata: {"a":1}\n\n:comment\n\nretry: 100\ndata: a\ndata: b\n\n',
  '\ufeffdata\r\n\r\nevent:endpoint\rdata: /x\r\rid\n\n',
]

export function run(input: Buffer): void {
  const whole = parse([input])
  const cut = (input[0] ?? 0) % (input.length + 1)
  const inTwo = parse([input.subarray(0, cut), input.subarray(cut)])
  const single = parse([...input].map((byte) => Buffer.of(byte)))
  if (whole !== inTwo || whole !== single) throw new Error('chunks change what is read')
  const data = JSON.stringify(input.toString('utf8'))
  const [event] = new EventParser(decodeUtf8).push(Buffer.from(encodeEvent({ id: '7', data })))
  if (event?.ok !== true || JSON.parse(event.data) !== input.toString('utf8'))
    throw new Error('what was written reads otherwise')
}

function parse(chunks: readonly Buffer[]): string {
  const parser = new EventParser(decodeUtf8)
  const events = chunks.flatMap((chunk) => parser.push(chunk))
  for (const event of events)
    if (event.ok && /[\r\n]/.test(event.event)) throw new Error('a name with a line break')
  if (parser.lastEventId?.includes('\0')) throw new Error('an id with a NUL')
  return JSON.stringify([events, parser.lastEventId, parser.retryMs])
}
