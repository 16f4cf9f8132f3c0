// The strict reader of plain requests: a POST to `/mcp` or `/mcp/<server>` with a length, whole and
// short, as MCP clients send them all day. It takes only what can be read in one way; of everything
// else it says that it is not plain, and `node:http` reads it from its first byte. Pure.

import type { IncomingHttpHeaders } from 'node:http'
import { PLAIN_HEAD_BYTES_MAX, PLAIN_HEADERS_MAX, PLAIN_REQUEST_BYTES_MAX } from '../limits.ts'

export interface PlainHead {
  readonly path: string
  /** By their lower-case names; without the length, which the request itself says. */
  readonly headers: IncomingHttpHeaders
  /** The text of the head around the digits of the length. */
  readonly before: string
  readonly after: string
}

export interface PlainRequest {
  readonly head: PlainHead
  /** Where its body begins and ends. */
  readonly bodyAt: number
  readonly end: number
}

const START = 'POST /mcp'
const REQUEST_LINE = /^POST (\/mcp(?:\/[a-z0-9-]{1,24})?) HTTP\/1\.1\r\n/
/** No white space but one space behind the colon, nothing but visible ASCII, and some of it. */
const HEADER = /([!#$%&'*+.^_`|~\dA-Za-z-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)\r\n/y
const LENGTH = /^(?:0|[1-9]\d{0,6})$/
const END_OF_HEAD = Buffer.from('\r\n\r\n')
/** Other ends of lines: the end of the head would never come. */
const STRAY = /\r(?!\n|$)|(?<!\r)\n/
const ZERO = 0x30

/** Of what they say `node:http` is the judge: other framings, hop by hop, or other types there. */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  ...['transfer-encoding', 'trailer', 'te', 'expect', 'upgrade', 'http2-settings', 'keep-alive'],
  ...['proxy-connection', 'set-cookie', '__proto__'],
])

/** For one connection: what is the same in every request is read once. */
export class PlainReader {
  #last: PlainHead | undefined

  /** The request that `bytes` begin with. `more`: so far they may be the beginning of one. */
  read(bytes: Buffer): PlainRequest | 'more' | 'not plain' {
    const end = bytes.indexOf(END_OF_HEAD)
    if (end < 0)
      return bytes.length <= PLAIN_HEAD_BYTES_MAX && mayBegin(bytes) ? 'more' : 'not plain'
    if (end > PLAIN_HEAD_BYTES_MAX) return 'not plain'
    // With the end of its last line.
    const text = bytes.toString('latin1', 0, end + 2)
    const last = this.#last
    let digits = last === undefined ? undefined : digitsBetween(text, last)
    if (digits === undefined) {
      const read = readHead(text)
      if (read === undefined) return 'not plain'
      digits = read.digits
      this.#last = read.head
    }
    const bodyAt = end + END_OF_HEAD.length
    const whole = bodyAt + digits
    if (whole > PLAIN_REQUEST_BYTES_MAX) return 'not plain'
    if (whole > bytes.length) return 'more'
    return { head: this.#last as PlainHead, bodyAt, end: whole }
  }
}

function mayBegin(bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  return START.startsWith(text.slice(0, START.length)) && !STRAY.test(text)
}

/** The length, where everything else is as in the head before. */
function digitsBetween(text: string, { before, after }: PlainHead): number | undefined {
  const from = before.length
  const to = text.length - after.length
  const count = to - from
  if (count < 1 || count > 7 || !text.startsWith(before) || !text.endsWith(after)) return undefined
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (!(digit >= 0 && digit <= 9)) return undefined
    value = value * 10 + digit
  }
  return count > 1 && text.charCodeAt(from) === ZERO ? undefined : value
}

function readHead(text: string): { head: PlainHead; digits: number } | undefined {
  const line = REQUEST_LINE.exec(text)
  if (line === null) return undefined
  // Its own prototype would answer to names that nobody sent.
  const headers = Object.create(null) as Record<string, string>
  let lengthAt = 0
  let length = ''
  let count = 0
  HEADER.lastIndex = line[0].length
  while (HEADER.lastIndex < text.length) {
    const match = HEADER.exec(text)
    if (match === null || ++count > PLAIN_HEADERS_MAX) return undefined
    const name = (match[1] as string).toLowerCase()
    const value = match[2] as string
    if (NOT_PLAIN.has(name) || headers[name] !== undefined) return undefined
    if (name === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined
    if (name === 'content-length') {
      if (length !== '' || !LENGTH.test(value)) return undefined
      length = value
      lengthAt = HEADER.lastIndex - 2 - value.length
    } else headers[name] = value
  }
  if (length === '' || headers.host === undefined) return undefined
  const before = text.slice(0, lengthAt)
  const after = text.slice(lengthAt + length.length)
  return { head: { path: line[1] as string, headers, before, after }, digits: Number(length) }
}
