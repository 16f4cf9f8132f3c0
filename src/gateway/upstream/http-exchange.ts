// One HTTP request and its response, on undici's dispatch: told piece by piece, paused by whoever
// receives, ended at any time, and known to be unwritten where it is. Never follows a redirect and
// never sends twice. Used by the HTTP transports of this folder.

import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ExchangeEvents {
  onHead(status: number, headers: IncomingHttpHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  onError(error: Error): void
}

export class Exchange implements Dispatcher.DispatchHandler {
  /** A byte of the request may have left. */
  written = false
  /** Over, one way or the other: no event comes any more. */
  over = false
  readonly #events: ExchangeEvents
  #controller: Dispatcher.DispatchController | undefined
  #held = false
  #timer: NodeJS.Timeout | undefined

  constructor(pool: Dispatcher, request: ExchangeRequest, events: ExchangeEvents) {
    this.#events = events
    // After the caller has the object that the events are about.
    queueMicrotask(() => {
      if (!this.over) pool.dispatch({ ...request, body: request.body ?? null }, this)
    })
  }

  /** The receiver is slow. */
  pause(): void {
    this.#held = true
    this.#controller?.pause()
  }

  resume(): void {
    this.#held = false
    if (this.#timer === undefined) this.#controller?.resume()
  }

  /** The server is too fast: reads on after so long. */
  rest(waitMs: number): void {
    if (waitMs === 0 || this.#timer !== undefined) return
    this.#controller?.pause()
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#held) this.#controller?.resume()
    }, waitMs)
    this.#timer.unref()
  }

  abort(): void {
    this.#finish()
    this.#controller?.abort(new Error('ended by the gate'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // A second start would be a second sending of what may have been done already.
    if (this.over || this.written) controller.abort(new Error('not to be sent'))
    this.written = true
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200 || this.over) return
    if (this.#held) controller.pause()
    this.#events.onHead(status, headers)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.over) this.#events.onData(chunk)
  }

  onResponseEnd(): void {
    if (this.over) return
    this.#finish()
    this.#events.onEnd()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.over) return
    this.#finish()
    this.#events.onError(error)
  }

  #finish(): void {
    this.over = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
