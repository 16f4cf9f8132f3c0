// The strict reader of plain requests: a POST to `/mcp` or `/mcp/<server>` with a length, whole and
// short, as MCP clients send them all day. It takes only what can be read in one way; of everything
// else it says that it is not plain, and `node:http` reads it from its first byte. Pure.

import type { IncomingHttpHeaders } from 'node:http'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { CachedHead, flat } from '../../shared/cached-http-head.ts'
import {
  PLAIN_HEAD_BYTES_MAX,
  PLAIN_HEADERS_MAX,
  PLAIN_REQUEST_BYTES_MAX,
} from '../../shared/limits.ts'

export interface FastPathHead {
  readonly path: string
  /** The headers by their lower-case names; without the length, which the request itself says. */
  readonly headers: IncomingHttpHeaders
}

export interface FastPathRequest {
  /** The same object as long as it says the same. */
  readonly head: FastPathHead
  /** Where its body begins and ends. */
  readonly bodyAt: number
  readonly end: number
}

/** The end of a line, and an empty one. */
const BLANK = '\r\n\r\n'
const BODY_AT_MAX = PLAIN_HEAD_BYTES_MAX + BLANK.length
const START = 'POST /mcp'
const REQUEST_LINE = /^POST (\/mcp(?:\/@?[a-z0-9-]{1,24})?) HTTP\/1\.1\r\n/
/** No white space but one space behind the colon, nothing but visible ASCII, and some of it. */
const HEADER = /([!#$%&'*+.^_`|~\dA-Za-z-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)\r\n/y
const LENGTH = /^(?:0|[1-9]\d{0,6})$/
/** Other ends of lines: the end of the head would never come. */
const STRAY = /\r(?!\n|$)|(?<!\r)\n/

/** What these say is for `node:http` to judge: other framings, hop by hop, or other types there. */
const NOT_PLAIN = toWordSet(`
  transfer-encoding trailer te expect upgrade http2-settings keep-alive proxy-connection
  set-cookie __proto__
`)

/** Reads one connection: what is the same in every request is read once. */
export class FastPathReader {
  #same: CachedHead | undefined
  #head: FastPathHead | undefined
  /** Where the answer was `more`: how many bytes it takes at least; 0 if the head has not ended. */
  wants = 0

  /** The request that `bytes` begin with, of which the first `count` were received. `more`: so far it may be the
   * beginning of one. */
  read(bytes: Buffer, count = bytes.length): FastPathRequest | 'more' | 'not plain' {
    let bodyAt = this.#same?.bodyAt(bytes, count) ?? -1
    let length = this.#same?.length ?? 0
    if (bodyAt < 0) {
      const text = bytes.toString('latin1', 0, count)
      const blank = text.indexOf(BLANK)
      if (blank < 0) {
        this.wants = 0
        return mayBegin(text) ? 'more' : 'not plain'
      }
      bodyAt = blank + BLANK.length
      // With the end of its last line.
      length = bodyAt > BODY_AT_MAX ? -1 : this.#readHead(text.slice(0, blank + 2))
      if (length < 0) return 'not plain'
    }
    const end = bodyAt + length
    if (bodyAt > BODY_AT_MAX || end > PLAIN_REQUEST_BYTES_MAX) return 'not plain'
    if (end <= count) return { head: this.#head as FastPathHead, bodyAt, end }
    this.wants = end
    return 'more'
  }

  /** The length that it says; -1 if it is not plain. */
  #readHead(text: string): number {
    const line = REQUEST_LINE.exec(text)
    if (line === null) return -1
    // Its own prototype would answer to names that nobody sent.
    const headers = Object.create(null) as Record<string, string>
    let lengthAt = 0
    let length = ''
    let count = 0
    HEADER.lastIndex = line[0].length
    while (HEADER.lastIndex < text.length) {
      const match = HEADER.exec(text)
      if (match === null || ++count > PLAIN_HEADERS_MAX) return -1
      const name = (match[1] as string).toLowerCase()
      const value = match[2] as string
      if (NOT_PLAIN.has(name) || headers[name] !== undefined) return -1
      if (name === 'connection' && value.toLowerCase() !== 'keep-alive') return -1
      if (name === 'content-length') {
        if (length !== '' || !LENGTH.test(value)) return -1
        length = value
        lengthAt = HEADER.lastIndex - 2 - value.length
      } else headers[name] = value
    }
    if (length === '' || headers.host === undefined) return -1
    for (const name in headers) headers[name] = flat(headers[name] as string)
    // A copy has a hidden class that equal heads share: V8 reads each header as it reads any property.
    const shared: IncomingHttpHeaders = Object.setPrototypeOf({ ...headers }, null)
    this.#head = { path: flat(line[1] as string), headers: shared }
    this.#same = new CachedHead(`${text}\r\n`, lengthAt, length.length)
    return Number(length)
  }
}

function mayBegin(text: string): boolean {
  if (text.length > PLAIN_HEAD_BYTES_MAX) return false
  if (!START.startsWith(text.slice(0, START.length)) || STRAY.test(text)) return false
  // A client that sends line by line has the head scanned for each line: their number is bounded.
  return linesIn(text) <= PLAIN_HEADERS_MAX + 1
}

function linesIn(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}
