// Server-sent events towards a client, one message an event. What a slow client has not read is
// bounded: past that the stream is ended, and the client comes back for the rest.

import { encodeEvent } from '../../wire/sse.ts'
import { STREAM_BUFFER_BYTES_MAX } from '../limits.ts'
import type { Reply, ReplyHeaders } from './reply.ts'

export class EventStream {
  readonly #reply: Reply

  constructor(reply: Reply, headers: ReplyHeaders, onEnd: () => void) {
    this.#reply = reply
    reply.onGone = onEnd
    reply.begin(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
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
    if (!this.#reply.isOver) this.#reply.end()
  }

  #write(text: string): boolean {
    if (this.#reply.isOver) return false
    this.#reply.write(text)
    if (this.#reply.waitingBytes <= STREAM_BUFFER_BYTES_MAX) return true
    this.#reply.destroy()
    return false
  }
}
