// One HTTP request and its response: delivered piece by piece, paused by the receiver, ended at any time,
// and known to be unsent if no byte was written. Never follows a redirect and never sends twice. Used by
// the HTTP transports of this folder.

import { Buffer } from 'node:buffer'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { LargeMessagePlace } from '../../shared/large-messages.ts'
import { takeTurn } from '../../shared/slices.ts'
import type { ResponseBody } from './http-body.ts'
import type { Connection, ConnectionJob } from './http-connection.ts'
import type { HttpHost } from './http-host.ts'
import type { ConnectionPool } from './http-pools.ts'
import type { ResponseHeaders } from './http-response.ts'

/** What the connection itself says. */
const OURS = toWordSet(
  'connection content-length expect keep-alive te trailer transfer-encoding upgrade',
)

const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const PATH = /^\/[\x21-\x7e]*$/

/** Heads that were written before, but for the length: a link sends the same with every call. */
const written = new WeakMap<object, { method: string; path: string; text: string }>()

export interface HttpExchangeEvents {
  onHead(status: number, headers: ResponseHeaders): void
  /** What is left of the chunk, if other work is to have its turn first: it comes again then. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most receivers return nothing
  onData(chunk: Buffer): Buffer | undefined | void
  onEnd(): void
  /** Instead of the three, if the response came at once; false if they must be called after all. */
  onWhole?(status: number, headers: ResponseHeaders, body: string | Buffer): boolean
  onError(error: Error): void
}

export class HttpExchange implements ConnectionJob {
  /** A byte of the request may have left. */
  written = false
  /** Over, one way or the other: no event comes any more. */
  over = false
  head = ''
  readonly body: string
  readonly bodyBytes: number
  readonly #events: HttpExchangeEvents
  #connection: Connection | undefined
  #isPaused = false
  #timer: NodeJS.Timeout | undefined
  /** What came and was not read yet: at most what one read of the socket brought. */
  #queue: Buffer[] = []
  /** Waits for its turn. */
  #waits = false
  readonly #place = new LargeMessagePlace(() => this.#goOn())
  /** How it ended, while something is in the queue. */
  #ending: (() => void) | undefined

  constructor(pool: ConnectionPool, request: HttpRequest, events: HttpExchangeEvents) {
    const { body = '' } = request
    this.body = body
    this.bodyBytes = Buffer.byteLength(body)
    this.#events = events
    try {
      this.head = writeHead(pool.host, request, this.bodyBytes)
    } catch (error) {
      // After the caller has the object that the events are about.
      queueMicrotask(() => this.onError(error as Error))
      return
    }
    pool.carry(this)
  }

  /** The receiver is slow. */
  pause(): void {
    this.#isPaused = true
    this.#connection?.pause(this)
  }

  resume(): void {
    this.#isPaused = false
    this.#goOn()
  }

  /** Reads a chunk into a body, no faster than the host lets the server speak. Returns what is left of it. */
  readInto(body: ResponseBody, chunk: Buffer, host: HttpHost): Buffer | undefined {
    const rest = body.push(chunk)
    if (this.over) return rest
    this.#rest(host.restMs(chunk.length - (rest?.length ?? 0)))
    this.#place.hold(body.heldBytes)
    if (this.#place.isWaiting) this.#connection?.pause(this)
    return rest
  }

  /** The server is too fast: reads on after so long. */
  #rest(waitMs: number): void {
    if (waitMs === 0 || this.#timer !== undefined) return
    this.#connection?.pause(this)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#goOn()
    }, waitMs)
    this.#timer.unref()
  }

  abort(): void {
    this.#finish()
    this.#connection?.abort(this)
  }

  onStart(connection: Connection): void {
    this.#connection = connection
    if (this.over) return connection.abort(this)
    this.written = true
  }

  onHead(status: number, headers: ResponseHeaders): void {
    if (this.over) return
    if (this.#isPaused) this.#connection?.pause(this)
    this.#events.onHead(status, headers)
  }

  onData(chunk: Buffer): void {
    if (this.over) return
    if (this.#queue.length > 0 || this.#waits || this.#place.isWaiting) this.#queue.push(chunk)
    else this.#read(chunk)
  }

  #read(chunk: Buffer): void {
    const rest = this.#events.onData(chunk)
    if (rest === undefined || this.over) return
    if (rest.length > 0) this.#queue.unshift(rest)
    this.#waits = true
    this.#connection?.pause(this)
    void takeTurn().then(() => {
      this.#waits = false
      this.#goOn()
    })
  }

  /** The queue first, then how it ended or what else comes. */
  #goOn(): void {
    const isStill = () =>
      this.#isPaused ||
      this.#waits ||
      this.#timer !== undefined ||
      this.#place.isWaiting ||
      this.over
    while (!isStill() && this.#queue.length > 0) this.#read(this.#queue.shift() as Buffer)
    if (isStill()) return
    if (this.#ending === undefined) this.#connection?.resume(this)
    else this.#ending()
  }

  /** Whether the end has to wait for what came before it. */
  #endsLater(ending: () => void, isWaiting = this.#waits): boolean {
    if (this.#queue.length === 0 && !isWaiting) return false
    this.#ending = ending
    return true
  }

  onEnd(): void {
    const isWaiting = this.#waits || this.#place.isWaiting
    if (this.over || this.#endsLater(() => this.onEnd(), isWaiting)) return
    this.#finish()
    this.#events.onEnd()
  }

  onWhole(status: number, headers: ResponseHeaders, body: string | Buffer): void {
    if (this.over) return
    if (this.#events.onWhole?.(status, headers, body)) return this.#finish()
    this.onHead(status, headers)
    if (body.length > 0) this.onData(typeof body === 'string' ? Buffer.from(body) : body)
    this.onEnd()
  }

  onError(error: Error): void {
    if (this.over || this.#endsLater(() => this.onError(error))) return
    this.#finish()
    this.#events.onError(error)
  }

  #finish(): void {
    this.over = true
    // Setting the length of an array takes a microsecond, and nearly every time it is empty.
    if (this.#queue.length > 0) this.#queue = []
    this.#place.leave()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Throws if a header or the path is invalid. In latin1, up to the end of the head. */
function writeHead(
  host: string,
  { method, path, headers, body }: HttpRequest,
  bodyBytes: number,
): string {
  let known = written.get(headers)
  if (known?.path !== path || known.method !== method) {
    if (!PATH.test(path)) throw new Error('the path of the url cannot be sent')
    const text = `${method} ${path} HTTP/1.1\r\n${headerLines(host, headers)}`
    known = { method, path, text }
    written.set(headers, known)
  }
  return body === undefined
    ? `${known.text}\r\n`
    : `${known.text}content-length: ${bodyBytes}\r\n\r\n`
}

function headerLines(host: string, headers: Readonly<Record<string, string>>): string {
  let lines = headers.host === undefined ? `host: ${host}\r\n` : ''
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value) || OURS.has(name.toLowerCase()))
      throw new Error(`the header \`${name}\` cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  return `${lines}connection: keep-alive\r\n`
}
