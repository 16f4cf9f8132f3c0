// The answer to one plain request, as bytes of HTTP/1.1: whole in one write, or in chunks. Made by
// connection.ts, for one request each: one that is over can say nothing into the next.

import { Buffer } from 'node:buffer'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { CLIENT_KEEP_ALIVE_MS } from '../../shared/limits.ts'
import type { OutgoingHeaders, ResponseWriter } from '../exchange/response-writer.ts'

/** The connection, as far as an answer needs it. */
export interface FastPathPeer {
  readonly socket: Socket
  /** The connection is to end with this answer. */
  readonly isLast: boolean
  /** The client has not read it all yet. */
  onUnread(): void
  /** The answer is over, and the next request may be read. */
  onAnswered(): void
}

const VALUE = /^[\t\x20-\x7e]*$/
const NAME = /^[a-z0-9-]+$/
const KEPT = `connection: keep-alive\r\nkeep-alive: timeout=${CLIENT_KEEP_ALIVE_MS / 1_000}\r\n`
const CLOSES = 'connection: close\r\n'
/** Texts of headers that were written before: a session sends the same with every answer. */
const written = new WeakMap<OutgoingHeaders, string>()

export class FastPathResponseWriter implements ResponseWriter {
  isBegun = false
  readsOnlyEvents = false
  #onGone: () => void = nothing
  #of: FastPathPeer | undefined

  constructor(of: FastPathPeer) {
    this.#of = of
  }

  get isOver(): boolean {
    return this.#of === undefined
  }

  get waitingBytes(): number {
    return this.#of?.socket.writableLength ?? 0
  }

  whenRead(onRead: () => void): void {
    this.#of?.socket.once('drain', onRead)
  }

  whenGone(onGone: () => void): void {
    this.#onGone = onGone
  }

  send(status: number, headers: OutgoingHeaders, body = ''): void {
    const of = this.#of
    if (of === undefined) return
    const length = Buffer.byteLength(body)
    const head = `${headOf(status, headers, of.isLast)}content-length: ${length}\r\n\r\n`
    this.isBegun = true
    // What is all ASCII is written without a copy.
    const encoding = length === body.length ? 'latin1' : 'utf8'
    if (!of.socket.write(head + body, encoding)) of.onUnread()
    this.#over(of)
  }

  begin(status: number, headers: OutgoingHeaders): void {
    const of = this.#of
    if (of === undefined) return
    const head = `${headOf(status, headers, of.isLast)}transfer-encoding: chunked\r\n\r\n`
    this.isBegun = true
    of.socket.write(head, 'latin1')
  }

  write(text: string): void {
    // A chunk of nothing would be the end.
    if (text === '') return
    const length = Buffer.byteLength(text).toString(16)
    this.#of?.socket.write(`${length}\r\n${text}\r\n`, 'utf8')
  }

  end(): void {
    const of = this.#of
    if (of === undefined) return
    of.socket.write('0\r\n\r\n', 'latin1')
    this.#over(of)
  }

  destroy(): void {
    this.#of?.socket.destroy()
  }

  /** The client is gone. */
  noteGone(): void {
    if (this.#of === undefined) return
    this.#of = undefined
    this.#onGone()
  }

  #over(of: FastPathPeer): void {
    this.#of = undefined
    of.onAnswered()
  }
}

function headOf(status: number, headers: OutgoingHeaders, isLast: boolean): string {
  let lines = written.get(headers)
  if (lines === undefined) {
    lines = headerLines(headers)
    written.set(headers, lines)
  }
  const line = status === 200 ? 'HTTP/1.1 200 OK' : `HTTP/1.1 ${status} ${STATUS_CODES[status]}`
  return `${line}\r\n${lines}${dateLine()}${isLast ? CLOSES : KEPT}`
}

/** Throws if a header would be two. */
function headerLines(headers: OutgoingHeaders): string {
  let lines = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value))
      throw new Error(`the header \`${name}\` cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

let date = ''

/** The line of this second; the next second makes its own. */
function dateLine(): string {
  if (date === '') {
    const nowMs = Date.now()
    date = `date: ${new Date(nowMs).toUTCString()}\r\n`
    setTimeout(forgetDate, 1_000 - (nowMs % 1_000)).unref()
  }
  return date
}

function forgetDate(): void {
  date = ''
}

function nothing(): void {}
