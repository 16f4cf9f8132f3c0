// A client's connection as long as its requests are plain: read by the gate itself, one at a time,
// each answered before the next is looked at. With the first that is not, the connection goes to
// `node:http` with every byte that was not read. Made by connections.ts.

import { Buffer } from 'node:buffer'
import { type BoundSocket, Socket } from 'node:net'
import {
  CLIENT_KEEP_ALIVE_MS,
  CLIENT_LOOK_EVERY_MS,
  CLIENT_REQUEST_MS_MAX,
  PLAIN_HEAD_BYTES_MAX,
  PLAIN_REQUEST_BYTES_MAX,
} from '../../shared/limits.ts'
import { type FastPathPeer, FastPathResponseWriter } from './fast-path-response-writer.ts'
import { type FastPathHead, FastPathReader, type FastPathRequest } from './request-reader.ts'

export interface PlainEvents {
  /** The body is text where it is all ASCII, and bytes if it is not. */
  onRequest(
    head: FastPathHead,
    body: string | Buffer,
    socket: Socket,
    reply: FastPathResponseWriter,
  ): void
  /** `node:http` is to read on, from `socket`. */
  onHandOver(connection: FastPathConnection): void
  /** A large answer was written. */
  onUnread(socket: Socket): void
  onGone(connection: FastPathConnection): void
}

/** Where all connections receive, one after the other: what is kept is copied. */
const RECEIVED = Buffer.allocUnsafeSlow(65_536)

const CR = 0x0d
const LF = 0x0a
const TOO_SLOW = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

export class FastPathConnection implements FastPathPeer {
  readonly socket: Socket
  isLast = false
  readonly #events: PlainEvents
  readonly #reader = new FastPathReader()
  /** What came and was not read yet. */
  #buffered: Buffer | undefined
  /** And what came after it. */
  #later: Buffer[] = []
  #laterBytes = 0
  #reply: FastPathResponseWriter | undefined
  #isReading = false
  #isOver = false
  /** Much of the last answer waits to be read. */
  #isUnread = false
  /** How often it was looked at since it became free, or the first byte of a request came. */
  #looks = 0

  constructor(accepted: Socket, events: PlainEvents) {
    const socket = receiveInPlace(accepted, (bytes) => this.#onBytes(bytes))
    this.socket = socket
    this.#events = events
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  /** Nobody waits for an answer. */
  get isIdle(): boolean {
    return this.#reply === undefined && this.#buffered === undefined
  }

  /** How many checks ago the last answer was sent; -1 while a request waits for its answer. */
  get idleLooks(): number {
    return this.#reply === undefined ? this.#looks : -1
  }

  /** Ends it with the answer that is open, or at once. */
  endSoon(): void {
    this.isLast = true
    if (this.isIdle) this.socket.end()
  }

  /** Ends it if it is idle, or its request has been arriving, for too long. Called every
   * CLIENT_LOOK_EVERY_MS, so that no request has to read the clock. */
  look(): void {
    if (this.#reply !== undefined) return
    const forMs = this.#looks++ * CLIENT_LOOK_EVERY_MS
    if (this.#buffered === undefined) {
      if (forMs > CLIENT_KEEP_ALIVE_MS) this.socket.destroy()
    } else if (forMs > CLIENT_REQUEST_MS_MAX) {
      this.socket.end(TOO_SLOW)
      this.socket.destroySoon()
    }
  }

  /** Nothing more is read of a client that does not read. */
  onUnread(): void {
    if (this.#isUnread) return
    this.#isUnread = true
    this.socket.pause()
    this.socket.once('drain', this.#onRead)
    this.#events.onUnread(this.socket)
  }

  readonly #onRead = (): void => {
    this.#isUnread = false
    if (this.#isOver) return
    this.socket.resume()
    this.#readOn()
  }

  onAnswered(): void {
    this.#reply = undefined
    this.#looks = 0
    if (this.isLast) return void this.socket.end()
    if (this.#buffered === undefined || this.#isUnread) return
    if (this.socket.isPaused()) this.socket.resume()
    this.#readOn()
  }

  /** So many bytes stand in RECEIVED until this returns: mostly one whole request, which is read there. */
  #onBytes(bytes: number): boolean {
    if (!this.#isOver && !this.#isUnread && this.isIdle) {
      const read = this.#reader.read(RECEIVED, bytes)
      if (typeof read === 'object' && read.end === bytes) {
        this.#takeRequest(RECEIVED, read)
        return true
      }
    }
    const copy = Buffer.from(RECEIVED.subarray(0, bytes))
    if (this.#isOver) return this.socket.push(copy)
    this.#onData(copy)
    return true
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#buffered === undefined) {
      this.#buffered = chunk
      if (this.#reply === undefined) this.#looks = 0
    } else {
      this.#later.push(chunk)
      this.#laterBytes += chunk.length
    }
    if (this.#reply === undefined) {
      if (this.#laterBytes === 0 || this.#isWorthReading(this.#buffered, chunk)) this.#readOn()
      // It sends on and on before it has its answer.
    } else if (this.#buffered.length + this.#laterBytes > PLAIN_REQUEST_BYTES_MAX)
      this.socket.pause()
  }

  /** What comes byte by byte is not looked through for every byte: the rest of a body when it is all
   * there, the rest of a head when a line of it may have ended. */
  #isWorthReading(buffered: Buffer, chunk: Buffer): boolean {
    const { wants } = this.#reader
    const bytes = buffered.length + this.#laterBytes
    if (wants > 0) return bytes >= wants
    return bytes > PLAIN_HEAD_BYTES_MAX || chunk.includes(CR) || chunk.includes(LF)
  }

  #gather(buffered: Buffer): Buffer {
    if (this.#laterBytes === 0) return buffered
    const all = Buffer.concat([buffered, ...this.#later])
    this.#later = []
    this.#laterBytes = 0
    return all
  }

  /** Answered at once or later: whichever, the requests are read one after the other. */
  #readOn(): void {
    if (this.#isReading) return
    this.#isReading = true
    while (this.#buffered !== undefined && this.#reply === undefined && !this.#isOver) {
      if (this.#isUnread) break
      const buffered = this.#gather(this.#buffered)
      const read = this.#reader.read(buffered)
      if (read === 'more') {
        this.#buffered = buffered
        break
      }
      if (read === 'not plain') {
        this.#handOver(buffered)
        break
      }
      this.#buffered = read.end === buffered.length ? undefined : buffered.subarray(read.end)
      this.#takeRequest(buffered, read)
    }
    this.#isReading = false
  }

  #takeRequest(bytes: Buffer, { head, bodyAt, end }: FastPathRequest): void {
    const reply = new FastPathResponseWriter(this)
    this.#reply = reply
    const text = bytes.toString('latin1', bodyAt, end)
    const isAscii = Buffer.byteLength(text) === text.length
    const body = isAscii ? text : Buffer.from(bytes.subarray(bodyAt, end))
    this.#events.onRequest(head, body, this.socket, reply)
  }

  #handOver(buffered: Buffer): void {
    const { socket } = this
    this.#isOver = true
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    socket.pause()
    socket.unshift(buffered)
    this.#events.onHandOver(this)
    socket.resume()
  }

  readonly #onEnd = (): void => {
    this.socket.end()
  }

  readonly #onError = (): void => {
    this.socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#isOver = true
    this.#reply?.noteGone()
    this.#events.onGone(this)
  }
}

/** A socket for the connection of `accepted` that receives into RECEIVED: one of `net.Server` allocates 64 kB for
 * every read. It is made as `net.Server` makes its own. With TLS the connection stays as it is. */
function receiveInPlace(accepted: Socket, callback: (bytes: number) => boolean): Socket {
  const before = accepted as Socket & { _handle?: BoundSocket | null; _server?: object | null }
  const { _handle: handle, _server } = before
  if (!handle || 'encrypted' in accepted) return accepted
  const onread = { buffer: RECEIVED, callback }
  const socket = new Socket({ handle, onread, allowHalfOpen: true })
  // The server counts one connection, which ends with the other socket.
  before._handle = null
  before._server = null
  return Object.assign(socket, { _server })
}
