// Server-sent events to a client, one message per event, with back-pressure: if the client does not read,
// the sender is paused. What is buffered all the same is bounded, and so is how long none of it is read:
// past that the stream is ended, and the client reconnects for the rest.

import { encodeEvent } from '@sluice/protocol/sse'
import { STREAM_BUFFER_BYTES_MAX, STREAM_FULL_BYTES, STREAM_STUCK_MS } from '../../shared/limits.ts'
import type { OutgoingHeaders, ResponseWriter } from './response-writer.ts'

export interface EventStreamEvents {
  onEnd(): void
  /** Much waits to be read; and nothing any more. */
  onFull?(isFull: boolean): void
}

export class EventStream {
  readonly #reply: ResponseWriter
  readonly #events: EventStreamEvents
  /** Looks whether the client reads, while it is full. */
  #stuck: NodeJS.Timeout | undefined

  constructor(reply: ResponseWriter, headers: OutgoingHeaders, events: EventStreamEvents) {
    this.#reply = reply
    this.#events = events
    reply.whenGone(() => {
      this.#free()
      events.onEnd()
    })
    reply.begin(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
  }

  /** False if the client no longer reads. An id is a promise that the client may come back with
   * it for what came after: none without that. */
  write(data: string, id?: string, event?: string): boolean {
    const named = event === undefined ? {} : { event }
    return this.#write(encodeEvent(id === undefined ? { ...named, data } : { ...named, id, data }))
  }

  /** An event that carries nothing but an id, to come back with from the very beginning. */
  prime(id: string, retryMs: number): void {
    this.#write(encodeEvent({ id, retryMs, data: '' }))
  }

  /** Shows that the stream lives, to clients and proxies that give up after a silence. */
  pulse(): void {
    this.#write(': still here\n\n')
  }

  end(): void {
    if (!this.#reply.isOver) this.#reply.end()
    this.#free()
  }

  #write(text: string): boolean {
    const reply = this.#reply
    if (reply.isOver) return false
    reply.write(text)
    const waiting = reply.waitingBytes
    if (waiting > STREAM_BUFFER_BYTES_MAX) {
      reply.destroy()
      return false
    }
    if (waiting > STREAM_FULL_BYTES && this.#stuck === undefined) this.#full(waiting)
    return true
  }

  #full(waiting: number): void {
    this.#watch(waiting)
    this.#reply.whenRead(() => this.#free())
    this.#events.onFull?.(true)
  }

  #watch(before: number): void {
    this.#stuck = setTimeout(() => {
      const { waitingBytes } = this.#reply
      if (waitingBytes < before) this.#watch(waitingBytes)
      else this.#reply.destroy()
    }, STREAM_STUCK_MS)
    this.#stuck.unref()
  }

  #free(): void {
    if (this.#stuck === undefined) return
    clearTimeout(this.#stuck)
    this.#stuck = undefined
    this.#events.onFull?.(false)
  }
}
