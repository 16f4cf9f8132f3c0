// One connection to an HTTP server: carries one request at a time, reports the response, and is free
// for the next where the response says so. A connection that sends anything unasked is ended. Made by
// the pools; TLS is always verified.

import { Buffer } from 'node:buffer'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { connect as connectTls } from 'node:tls'
import { HTTP_CONNECT_MS_MAX, HTTP_KEEP_ALIVE_MS, HTTP_KEEP_ALIVE_MS_MAX } from '../limits.ts'
import { type ResponseEvents, type ResponseHeaders, ResponseReader } from './http-response.ts'

/** A request on its way, as a connection knows it. */
export interface ConnectionJob {
  readonly head: string
  readonly body: string
  /** The size of the body, as UTF-8. */
  readonly bodyBytes: number
  /** Nobody wants it any more. */
  readonly over: boolean
  /** About to be written. */
  onStart(connection: Connection): void
  onHead(status: number, headers: ResponseHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** All of it, in place of the three. */
  onWhole(status: number, headers: ResponseHeaders, body: string | Buffer): void
  onError(error: Error): void
}

export interface ConnectionEvents {
  /** Free for another request. */
  onFree(connection: Connection): void
  onGone(connection: Connection): void
}

/** Where all of them receive, one after the other: what is to be kept is copied. */
const RECEIVED = Buffer.allocUnsafeSlow(65_536)

export class Connection implements ResponseEvents {
  readonly #socket: Socket
  readonly #reader = new ResponseReader(this)
  readonly #events: ConnectionEvents
  #job: ConnectionJob | undefined
  #isPaused = false
  /** The server may have been idle since long before the end of this response was read. */
  #wasPaused = false
  /** How long the server keeps it while it is free. */
  #keptMs = HTTP_KEEP_ALIVE_MS
  #movedMs = performance.now()

  constructor(url: URL, job: ConnectionJob, events: ConnectionEvents, lookup: LookupFunction) {
    this.#job = job
    this.#events = events
    this.#socket = open(
      { url, lookup },
      (bytes) => this.#onBytes(bytes),
      () => this.#onConnect(),
    )
    const late = new Error(`no connection within ${HTTP_CONNECT_MS_MAX} ms`)
    this.#socket.setTimeout(HTTP_CONNECT_MS_MAX, () => this.#socket.destroy(late))
    this.#socket.on('end', () => this.#onSocketEnd())
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => {
      this.#fail(new Error('the other side closed the connection'))
      this.#events.onGone(this)
    })
  }

  /** Whether a free connection can be used: false if the server may have closed it by now. */
  isFresh(nowMs: number): boolean {
    return this.#socket.readyState === 'open' && nowMs - this.#movedMs < this.#keptMs
  }

  /** How long nothing came for the request it carries; 0 if nobody wants to read. */
  silentMs(nowMs: number): number {
    return this.#job === undefined || this.#isPaused ? 0 : nowMs - this.#movedMs
  }

  take(job: ConnectionJob, nowMs = performance.now()): void {
    this.#job = job
    this.#wasPaused = false
    this.#write(job, nowMs)
  }

  pause(job: ConnectionJob): void {
    if (this.#job !== job) return
    this.#isPaused = true
    this.#wasPaused = true
    this.#socket.pause()
  }

  resume(job: ConnectionJob): void {
    if (this.#job !== job || !this.#isPaused) return
    this.#isPaused = false
    this.#movedMs = performance.now()
    this.#socket.resume()
  }

  /** Ends the request, and with it the connection: the rest of the response would still come. */
  abort(job: ConnectionJob): void {
    if (this.#job === job) this.end()
  }

  end(why?: Error): void {
    this.#reader.stop()
    if (why === undefined) this.#job = undefined
    this.#socket.destroy(why)
  }

  onHead(status: number, headers: ResponseHeaders): void {
    this.#keptMs = keptMsOf(headers)
    this.#job?.onHead(status, headers)
  }

  onData(chunk: Buffer): void {
    this.#job?.onData(chunk)
  }

  onEnd(staysOpen: boolean): void {
    const job = this.#job
    this.#settle(staysOpen)
    job?.onEnd()
  }

  onWhole(status: number, headers: ResponseHeaders, body: string | Buffer): void {
    const job = this.#job
    this.#settle(true)
    job?.onWhole(status, headers, body)
  }

  #settle(staysOpen: boolean): void {
    this.#job = undefined
    // Answered before all of the request was taken: the rest of it would be the next request.
    const isFree = staysOpen && !this.#wasPaused && this.#socket.writableLength === 0
    this.#isPaused = false
    if (isFree) this.#events.onFree(this)
    else this.#socket.destroy()
  }

  #onConnect(): void {
    this.#socket.setTimeout(0)
    this.#socket.setNoDelay(true)
    const job = this.#job
    if (job === undefined || job.over) return void this.#socket.destroy()
    this.#write(job, performance.now())
  }

  #write(job: ConnectionJob, nowMs: number): void {
    this.#reader.begin()
    this.#movedMs = nowMs
    job.onStart(this)
    if (this.#job !== job) return
    const { head, body, bodyBytes } = job
    // One write and no copy, where it is all ASCII.
    if (bodyBytes === body.length) return void this.#socket.write(head + body, 'latin1')
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    this.#socket.write(body, 'utf8')
    this.#socket.uncork()
  }

  /** So many stand in RECEIVED, until this returns. */
  #onBytes(bytes: number): void {
    this.#movedMs = performance.now()
    if (this.#job === undefined) return this.end()
    try {
      if (!this.#reader.takeWhole(RECEIVED, bytes))
        this.#reader.push(Buffer.from(RECEIVED.subarray(0, bytes)))
    } catch (error) {
      this.end(error as Error)
    }
  }

  #onSocketEnd(): void {
    if (this.#job === undefined || !this.#reader.finish()) this.#socket.destroy()
  }

  #fail(error: Error): void {
    const job = this.#job
    this.#job = undefined
    job?.onError(error)
  }
}

function open(
  { url, lookup }: { readonly url: URL; readonly lookup: LookupFunction },
  onBytes: (bytes: number) => void,
  onConnect: () => void,
): Socket {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const callback = (bytes: number): boolean => {
    onBytes(bytes)
    return true
  }
  const onread = { buffer: RECEIVED, callback }
  if (url.protocol !== 'https:')
    return connect({ host, lookup, port: Number(url.port || 80), onread }, onConnect)
  const options = {
    host,
    lookup,
    onread,
    port: Number(url.port || 443),
    ALPNProtocols: ['http/1.1'],
    // Said here, so that NODE_TLS_REJECT_UNAUTHORIZED cannot take it away.
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  }
  return connectTls(options, onConnect)
}

/** Less than the server says: what it closes while a call is on its way costs that call its outcome. */
function keptMsOf({ 'keep-alive': keepAlive }: ResponseHeaders): number {
  if (keepAlive === undefined) return HTTP_KEEP_ALIVE_MS
  const seconds = /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(keepAlive)?.[1]
  if (seconds === undefined) return HTTP_KEEP_ALIVE_MS
  return Math.min(HTTP_KEEP_ALIVE_MS_MAX, Math.max(0, Number(seconds) * 1_000 - 1_000))
}
