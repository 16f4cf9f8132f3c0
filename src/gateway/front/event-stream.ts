// Server-sent events towards a client, one message an event. What a slow client has not read is
// bounded: past that the stream is ended, and the client comes back for the rest.

import type { ServerResponse } from 'node:http'
import { encodeEvent } from '../../wire/sse.ts'
import { STREAM_BUFFER_BYTES_MAX } from '../limits.ts'

export class EventStream {
  readonly #response: ServerResponse
  readonly #onEnd: () => void

  constructor(response: ServerResponse, headers: Record<string, string>, onEnd: () => void) {
    this.#response = response
    this.#onEnd = onEnd
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    response.flushHeaders()
    response.once('close', onEnd)
  }

  /** False where the client no longer reads. An id is a promise that the client may come back with
   * it for what came after: none without that. */
  write(data: string, id?: string, event?: string): boolean {
    const named = event === undefined ? {} : { event }
    return this.#write(encodeEvent(id === undefined ? { ...named, data } : { ...named, id, data }))
  }

  /** Shows that the stream lives, to clients and proxies that give up after a silence. */
  pulse(): void {
    this.#write(': still here\n\n')
  }

  end(): void {
    this.#response.off('close', this.#onEnd)
    this.#response.end()
  }

  #write(text: string): boolean {
    if (this.#response.destroyed || this.#response.writableEnded) return false
    this.#response.write(text)
    if (this.#response.writableLength <= STREAM_BUFFER_BYTES_MAX) return true
    this.#response.destroy()
    return false
  }
}
