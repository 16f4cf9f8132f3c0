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
export declare class Exchange implements Dispatcher.DispatchHandler {
  #private
  /** A byte of the request may have left. */
  written: boolean
  /** Over, one way or the other: no event comes any more. */
  over: boolean
  constructor(pool: Dispatcher, request: ExchangeRequest, events: ExchangeEvents)
  /** The receiver is slow. */
  pause(): void
  resume(): void
  /** The server is too fast: reads on after so long. */
  rest(waitMs: number): void
  abort(): void
  onRequestStart(controller: Dispatcher.DispatchController): void
  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void
  onResponseEnd(): void
  onResponseError(_: Dispatcher.DispatchController, error: Error): void
}
