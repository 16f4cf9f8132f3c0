// The strict reader of HTTP/1.1 responses, which takes them in pieces. A response that two readers could give two
// lengths (both headers for it, a doubled one, bare line feeds, folded lines) is an error and ends the connection:
// otherwise its rest could be taken for the next response. Used by the connections of this folder.

import { Buffer } from 'node:buffer'
import { CachedHead, flat } from '../../shared/cached-http-head.ts'
import {
  HTTP_CHUNK_LINE_LENGTH_MAX,
  HTTP_HEADER_BYTES_MAX,
  HTTP_INTERIM_RESPONSES_MAX,
} from '../limits.ts'

export interface ResponseEvents {
  onHead(status: number, headers: ResponseHeaders): void
  onData(chunk: Buffer): void
  /** The response is complete. `staysOpen`: the connection may carry another request, and nothing has been
   * received after the response. */
  onEnd(staysOpen: boolean): void
  /** Replaces the three others for a response that is received at once and whose head equals the last one but for
   * the length. The connection may carry another request. The body is a text if it is ASCII. */
  onWhole(status: number, headers: ResponseHeaders, body: string | Buffer): void
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\r\n]*)?(?:\r\n|$)/
/** What a head may not have: no other ends of lines than CRLF, and no NUL. */
const STRAY = /\0|\r(?!\n)|(?<!\r)\n/
const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const CHUNK_SIZE = /^([\da-f]{1,8})[ \t]*(?:;[^\0\r\n]*)?$/i
const LENGTH_LINE = /(\r\ncontent-length:[ \t]*)(\d+)(?=[ \t]*(?:\r\n|$))/i
const CR = 0x0d
const LF = 0x0a

type State = 'head' | 'counted' | 'size' | 'chunk' | 'chunk end' | 'trailer' | 'to the end' | 'over'

export class ResponseReader {
  readonly #events: ResponseEvents
  #state: State = 'head'
  /** The beginning of a head or a line whose end has not been received. */
  #buffered: Buffer | undefined
  #left = 0
  #interim = 0
  #trailerBytes = 0
  #staysOpen = false
  #isWhole = false
  /** The last head; the next response often has the same one, but for its length. */
  #cachedHead: KnownHead | undefined

  constructor(events: ResponseEvents) {
    this.#events = events
  }

  /** Prepares for the next response on the same connection. */
  begin(): void {
    this.#state = 'head'
    this.#buffered = undefined
    this.#interim = 0
    this.#trailerBytes = 0
    this.#isWhole = false
  }

  /** The connection must not be reused, and no further callbacks follow. */
  stop(): void {
    this.#state = 'over'
  }

  /** Takes the next bytes. Throws if they are not a response, or if they belong to a second one. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && this.#state !== 'over') at = this.#step(chunk, at)
    if (!this.#isWhole) return
    this.#isWhole = false
    this.#events.onEnd(this.#staysOpen && at === chunk.length)
  }

  /** The server has closed the connection. Returns true if that is the end of the body, as of one without a
   * length; false if the response was cut off. */
  finish(): boolean {
    if (this.#state !== 'to the end') return false
    this.stop()
    this.#events.onEnd(false)
    return true
  }

  /** The fast path of `push`: takes the first `bytes` of `received` if they are exactly one response and its head
   * equals the last one but for the length. Otherwise it takes nothing and returns false. */
  takeWhole(received: Buffer, bytes: number): boolean {
    const known = this.#cachedHead
    if (known === undefined || this.#state !== 'head' || this.#buffered !== undefined) return false
    const bodyAt = known.same.bodyAt(received, bytes)
    if (bodyAt < 0 || bodyAt > HTTP_HEADER_BYTES_MAX) return false
    if (bodyAt + known.same.length !== bytes) return false
    this.#state = 'over'
    const text = received.toString('latin1', bodyAt, bytes)
    const isAscii = Buffer.byteLength(text) === text.length
    const body = isAscii ? text : Buffer.from(received.subarray(bodyAt, bytes))
    this.#events.onWhole(known.status, known.headers, body)
    return true
  }

  /** Takes what it can from `at` on, and returns the offset after it. */
  #step(chunk: Buffer, at: number): number {
    if (this.#state === 'head') return this.#takeHead(chunk, at)
    if (this.#state === 'to the end') {
      this.#events.onData(at === 0 ? chunk : chunk.subarray(at))
      return chunk.length
    }
    if (this.#state === 'counted' || this.#state === 'chunk') return this.#takeBody(chunk, at)
    return this.#takeLine(chunk, at)
  }

  #takeHead(chunk: Buffer, at: number): number {
    const before = this.#buffered?.length ?? 0
    const rest = at === 0 ? chunk : chunk.subarray(at)
    const bytes = this.#buffered === undefined ? rest : Buffer.concat([this.#buffered, rest])
    // The end itself may be cut in two.
    const end = bytes.indexOf(END_OF_HEAD, Math.max(0, before - 3))
    if ((end < 0 ? bytes.length : end) > HTTP_HEADER_BYTES_MAX)
      throw new Error(`the headers have more than ${HTTP_HEADER_BYTES_MAX} bytes`)
    if (end < 0) {
      this.#buffered = bytes
      return chunk.length
    }
    this.#buffered = undefined
    this.#onHead(bytes.toString('latin1', 0, end))
    return at + end + END_OF_HEAD.length - before
  }

  #onHead(text: string): void {
    const match = STATUS_LINE.exec(text)
    if (match === null || STRAY.test(text)) throw new Error('this is not an HTTP/1.1 response')
    const status = Number(match[2])
    const headers = readHeaders(text, match[0].length)
    if (status < 200) {
      this.#interim += 1
      if (status === 101 || this.#interim > HTTP_INTERIM_RESPONSES_MAX)
        throw new Error(`an interim response that nobody waits for (${status})`)
      return
    }
    const length = bodyLengthOf(status, headers)
    const { connection } = headers
    const closes = connection !== undefined && /(?:^|,)\s*close\s*(?:,|$)/i.test(connection)
    this.#staysOpen = match[1] === '1' && !closes && length !== 'to the end'
    this.#cachedHead = this.#staysOpen ? knownHead(text, status, headers) : undefined
    this.#left = typeof length === 'number' ? length : 0
    this.#state = typeof length === 'number' ? 'counted' : length
    this.#events.onHead(status, headers)
    if (length === 0 && this.#state === 'counted') this.#end()
  }

  #takeBody(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    this.#left -= end - at
    const isCounted = this.#state === 'counted'
    if (this.#left === 0 && !isCounted) this.#state = 'chunk end'
    this.#events.onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end))
    if (this.#left === 0 && this.#state === 'counted') this.#end()
    return end
  }

  /** The size of a chunk, the line behind it, or a line of the trailer. */
  #takeLine(chunk: Buffer, at: number): number {
    const feed = chunk.indexOf(LF, at)
    const end = feed < 0 ? chunk.length : feed + 1
    const piece = chunk.subarray(at, end)
    const bytes = this.#buffered === undefined ? piece : Buffer.concat([this.#buffered, piece])
    if (bytes.length > HTTP_CHUNK_LINE_LENGTH_MAX)
      throw new Error(`a line between chunks has more than ${HTTP_CHUNK_LINE_LENGTH_MAX} bytes`)
    this.#buffered = feed < 0 ? Buffer.from(bytes) : undefined
    if (feed < 0) return end
    if (bytes[bytes.length - 2] !== CR) throw new Error('a line between chunks ends without CR')
    this.#onLine(bytes.toString('latin1', 0, bytes.length - 2))
    return end
  }

  #onLine(line: string): void {
    if (this.#state === 'chunk end') {
      if (line !== '') throw new Error('a chunk is longer than it says')
      this.#state = 'size'
      return
    }
    if (this.#state === 'trailer') {
      this.#trailerBytes += line.length
      if (this.#trailerBytes > HTTP_HEADER_BYTES_MAX) throw new Error('the trailer is too long')
      if (line === '') this.#end()
      return
    }
    const size = CHUNK_SIZE.exec(line)?.[1]
    if (size === undefined) throw new Error('a chunk without its size')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailer' : 'chunk'
  }

  #end(): void {
    this.#state = 'over'
    this.#isWhole = true
  }
}

/** A head that is not parsed again if the next response has the same but for its length. */
interface KnownHead {
  readonly status: number
  readonly headers: ResponseHeaders
  /** Compares the bytes of another head with these. */
  readonly same: CachedHead
}

/** The head to compare the next one with; undefined if it does not state exactly one length. A status without a body
 * has none, whatever the header says. */
function knownHead(text: string, status: number, headers: ResponseHeaders): KnownHead | undefined {
  if (status === 204 || status === 304) return undefined
  const length = headers['content-length']
  const match = LENGTH_LINE.exec(text)
  if (length === undefined || match?.[2] !== length) return undefined
  const at = match.index + (match[1] as string).length
  return { status, headers, same: new CachedHead(`${text}\r\n\r\n`, at, length.length) }
}

const READ = [
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'mcp-session-id',
  'www-authenticate',
  'location',
] as const
/** Headers that are used. Any other is only checked for valid syntax. */
export type ResponseHeaders = Partial<Record<(typeof READ)[number], string>>
/** The headers that names mean, as servers spell them; names beyond the bound are looked up each time. */
const spelt = new Map<string, keyof ResponseHeaders | undefined>()
const SPELT_MAX = 1_000

/** Reads the headers that are used. A header that is there twice gets both values, which no comparison accepts. */
function readHeaders(text: string, from: number): ResponseHeaders {
  const headers: ResponseHeaders = {}
  for (let start = from; start < text.length; ) {
    const end = text.indexOf('\r\n', start)
    const to = end < 0 ? text.length : end
    const colon = text.indexOf(':', start)
    const name = text.slice(start, colon < 0 || colon > to ? start : colon)
    const key = spelt.has(name) ? spelt.get(name) : learn(name)
    if (key !== undefined) {
      const value = flat(text.slice(colon + 1, to).trim())
      const other = headers[key]
      headers[key] = other === undefined ? value : `${other}, ${value}`
    }
    start = to + 2
  }
  return headers
}

function learn(name: string): keyof ResponseHeaders | undefined {
  if (!NAME.test(name)) throw new Error('a header that is none')
  const lower = name.toLowerCase()
  const key = READ.find((each) => each === lower)
  if (spelt.size < SPELT_MAX) spelt.set(name, key)
  return key
}

function bodyLengthOf(status: number, headers: ResponseHeaders): number | 'size' | 'to the end' {
  const { 'transfer-encoding': coding, 'content-length': length } = headers
  if (coding !== undefined && length !== undefined)
    throw new Error('Transfer-Encoding and Content-Length in one response')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Error('a Transfer-Encoding that is not `chunked`')
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new Error('a Content-Length that is not a number')
  if (status === 204 || status === 304) return 0
  if (coding !== undefined) return 'size'
  return length === undefined ? 'to the end' : Number(length)
}
