// A stream of server-sent events to a signed-in page: fetched, not an EventSource, since that cannot
// send a token. A page that does not read is disconnected; it reconnects with `Last-Event-ID`.

import type { ServerResponse } from 'node:http'
import { encodeEvent } from '@sluice/protocol/sse'
import { STREAM_BEHIND_BYTES_MAX, STREAM_PULSE_MS } from './limits.ts'

export interface Feed {
  /** False once the page is gone. */
  send(event: string, data: unknown, id?: string): boolean
  /** The same, made by `eventBytes` once for many. */
  sendBytes(bytes: Uint8Array): boolean
}

export function eventBytes(event: string, data: unknown, id?: string): Uint8Array {
  const named = id === undefined ? { event } : { id, event }
  return Buffer.from(encodeEvent({ ...named, data: JSON.stringify(data) }))
}

const PULSE = Buffer.from(': \n\n')

/** What a handler answers with where it wants to go on telling. `begin` returns what ends it. */
export class EventStreamResponse {
  readonly #begin: (feed: Feed) => () => void

  constructor(begin: (feed: Feed) => () => void) {
    this.#begin = begin
  }

  /** `holds`: whether the one who asked may still see it. Returns what ends the stream. */
  serve(response: ServerResponse, holds: () => boolean, ended: () => void): () => void {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    response.flushHeaders()
    const write = (bytes: Uint8Array): boolean => {
      if (response.writableEnded || response.destroyed) return false
      // Signed out or removed: not one word more.
      if (!holds()) {
        response.end()
        return false
      }
      if (response.writableLength > STREAM_BEHIND_BYTES_MAX) {
        response.destroy()
        return false
      }
      response.write(bytes)
      return true
    }
    const feed: Feed = {
      send: (event, data, id) => write(eventBytes(event, data, id)),
      sendBytes: write,
    }
    const end = this.#begin(feed)
    const pulse = setInterval(() => write(PULSE), STREAM_PULSE_MS).unref()
    response.once('close', () => {
      clearInterval(pulse)
      end()
      ended()
    })
    return () => void response.end()
  }
}
