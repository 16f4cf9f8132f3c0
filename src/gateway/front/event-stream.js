// Server-sent events towards a client: one message an event, with ids so that a client that lost
// the stream can ask for what it missed. What a slow client has not read is bounded; past that the
// stream is ended and the client comes back for the rest.
import { encodeEvent } from '../../wire/sse.ts'
import { STREAM_BUFFER_BYTES_MAX } from '../limits.ts'
export class EventStream {
  #response
  #onEnd
  constructor(response, headers, onEnd) {
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
  /** False where the client no longer reads. */
  write(id, data) {
    if (this.#response.destroyed || this.#response.writableEnded) return false
    this.#response.write(encodeEvent({ id, data }))
    if (this.#response.writableLength <= STREAM_BUFFER_BYTES_MAX) return true
    this.#response.destroy()
    return false
  }
  end() {
    this.#response.off('close', this.#onEnd)
    this.#response.end()
  }
}
