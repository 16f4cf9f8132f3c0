// The strict reader of HTTP/1.1 responses, piece by piece as they come. What two readers could take
// for two lengths (both kinds of it, doubled ones, bare line feeds, folded lines) is a fault that ends
// the connection: the next answer on it would be anybody's. Used by the connections of this folder.

import type { IncomingHttpHeaders } from 'node:http'
import {
  HTTP_CHUNK_LINE_LENGTH_MAX,
  HTTP_HEADER_BYTES_MAX,
  HTTP_INTERIM_RESPONSES_MAX,
} from '../limits.ts'

export interface ResponseEvents {
  onHead(status: number, headers: IncomingHttpHeaders): void
  onData(chunk: Buffer): void
  /** With all that came behind it: `staysOpen` where that is nothing, and the connection may carry
   * another request. */
  onEnd(staysOpen: boolean): void
}

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [^\0\r\n]*)?$/
const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const CHUNK_SIZE = /^([\da-f]{1,8})[ \t]*(?:;[^\0\r\n]*)?$/i
const CR = 0x0d
const LF = 0x0a

type State = 'head' | 'counted' | 'size' | 'chunk' | 'chunk end' | 'trailer' | 'to the end' | 'over'

export class ResponseReader {
  readonly #events: ResponseEvents
  #state: State = 'head'
  /** Of a head or a line that is not whole yet. */
  #held: Buffer | undefined
  #left = 0
  #interim = 0
  #trailerBytes = 0
  #staysOpen = false
  #isWhole = false

  constructor(events: ResponseEvents) {
    this.#events = events
  }

  /** For the next response on the same connection. */
  begin(): void {
    this.#state = 'head'
    this.#held = undefined
    this.#interim = 0
    this.#trailerBytes = 0
    this.#isWhole = false
  }

  /** The connection is to carry nothing more, and nothing more is told. */
  stop(): void {
    this.#state = 'over'
  }

  /** Throws where it is no response, or more than one. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && this.#state !== 'over') at = this.#step(chunk, at)
    if (!this.#isWhole) return
    this.#isWhole = false
    this.#events.onEnd(this.#staysOpen && at === chunk.length)
  }

  /** The server ended the connection: the end of some bodies, and the breaking off of all others. */
  finish(): boolean {
    if (this.#state !== 'to the end') return false
    this.stop()
    this.#events.onEnd(false)
    return true
  }

  /** Takes what it can from `at` on, and says where it came to. */
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
    const before = this.#held?.length ?? 0
    const rest = at === 0 ? chunk : chunk.subarray(at)
    const bytes = this.#held === undefined ? rest : Buffer.concat([this.#held, rest])
    // The end itself may be cut in two.
    const end = bytes.indexOf(END_OF_HEAD, Math.max(0, before - 3))
    if ((end < 0 ? bytes.length : end) > HTTP_HEADER_BYTES_MAX)
      throw new Error(`the headers have more than ${HTTP_HEADER_BYTES_MAX} bytes`)
    if (end < 0) {
      this.#held = bytes
      return chunk.length
    }
    this.#held = undefined
    this.#onHead(bytes.toString('latin1', 0, end))
    return at + end + END_OF_HEAD.length - before
  }

  #onHead(text: string): void {
    const lines = text.split('\r\n')
    const match = STATUS_LINE.exec(lines[0] as string)
    if (match === null) throw new Error('this is no HTTP/1.1 response')
    const status = Number(match[2])
    const headers = readHeaders(lines)
    if (status < 200) {
      this.#interim += 1
      if (status === 101 || this.#interim > HTTP_INTERIM_RESPONSES_MAX)
        throw new Error(`an interim response that nobody waits for (${status})`)
      return
    }
    const length = bodyLengthOf(status, headers)
    const closes = /(?:^|,)\s*close\s*(?:,|$)/i.test(headers.connection ?? '')
    this.#staysOpen = match[1] === '1' && !closes && length !== 'to the end'
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
    const bytes = this.#held === undefined ? piece : Buffer.concat([this.#held, piece])
    if (bytes.length > HTTP_CHUNK_LINE_LENGTH_MAX)
      throw new Error(`a line between chunks has more than ${HTTP_CHUNK_LINE_LENGTH_MAX} bytes`)
    this.#held = feed < 0 ? Buffer.from(bytes) : undefined
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

/** Lower-case names; what is there twice is joined, so that it equals nothing that was asked for. */
function readHeaders(lines: readonly string[]): IncomingHttpHeaders {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] as string
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    const value = line.slice(colon + 1).trim()
    if (!NAME.test(name) || /[\0\r\n]/.test(value)) throw new Error('a header that is none')
    const key = name.toLowerCase()
    const other = headers[key]
    headers[key] = other === undefined ? value : `${other}, ${value}`
  }
  return headers
}

function bodyLengthOf(
  status: number,
  headers: IncomingHttpHeaders,
): number | 'size' | 'to the end' {
  const { 'transfer-encoding': coding, 'content-length': length } = headers
  if (coding !== undefined && length !== undefined)
    throw new Error('Transfer-Encoding and Content-Length in one response')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new Error('a Transfer-Encoding that is not `chunked`')
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new Error('a Content-Length that is no number')
  if (status === 204 || status === 304) return 0
  if (coding !== undefined) return 'size'
  return length === undefined ? 'to the end' : Number(length)
}
