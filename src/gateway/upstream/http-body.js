// The body of an HTTP response as messages of a server: a JSON text read at its end, or a stream of
// events read one by one, both within the same bound. Used by the HTTP transports of this folder.
import { EventParser } from '../../wire/sse.js'
import { UPSTREAM_MESSAGE_BYTES_MAX } from '../limits.js'
import { decodeUtf8, readSaid } from './read-said.js'
export function bodyKindOf(headers) {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') return 'unreadable'
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) return 'unreadable'
  if (type.trim() === 'application/json') return 'json'
  return type.trim() === 'text/event-stream' ? 'events' : 'other'
}
export class JsonBody {
  #events
  #batches
  #chunks = []
  #bytes = 0
  constructor(events, batches) {
    this.#events = events
    this.#batches = batches
  }
  push(chunk) {
    const fitted = this.#bytes <= UPSTREAM_MESSAGE_BYTES_MAX
    this.#bytes += chunk.length
    if (this.#bytes <= UPSTREAM_MESSAGE_BYTES_MAX) {
      this.#chunks.push(chunk)
      return
    }
    this.#chunks = []
    if (fitted) this.#events.onTooLarge()
  }
  end() {
    if (this.#bytes === 0 || this.#bytes > UPSTREAM_MESSAGE_BYTES_MAX) return
    this.#events.onSaid(readBytes(Buffer.concat(this.#chunks), this.#batches))
  }
}
function readBytes(bytes, batches) {
  try {
    return readSaid(decodeUtf8(bytes), batches)
  } catch {
    return { ok: false, why: 'the answer is not UTF-8', answers: undefined }
  }
}
export class EventBody {
  parser = new EventParser(decodeUtf8, { lengthMax: UPSTREAM_MESSAGE_BYTES_MAX })
  #events
  #batches
  constructor(events, batches) {
    this.#events = events
    this.#batches = batches
  }
  push(chunk) {
    for (const event of this.parser.push(chunk)) {
      if (!event.ok) {
        if (event.code === 'WIRE_UTF8')
          this.#events.onSaid({ ok: false, why: event.message, answers: undefined })
        else this.#events.onTooLarge()
        // An event without text only carries an id, to resume from.
      } else if (event.event === 'message' && event.data !== '')
        this.#events.onSaid(readSaid(event.data, this.#batches()))
      else this.#events.onEvent?.(event.event, event.data)
    }
  }
  /** An event that the stream breaks off is none. */
  end() {}
}
