// The body of an HTTP response as messages of a server: a JSON text read at its end, or a stream of
// events read one by one, both within the same bound. Used by the HTTP transports of this folder.

import { EventParser } from '@sluice/protocol/sse'
import { decodeUtf8 } from '../../shared/decode-utf8.ts'
import { STREAM_UNITS_PER_EVENT, STREAM_UNITS_PER_TURN } from '../../shared/turn-limits.ts'
import { readUpstreamMessages, type UpstreamMessages } from '../read-upstream-messages.ts'
import type { ResponseHeaders } from './http-response.ts'

/** `unreadable`: compressed although nobody asked for it, or in another character set. */
export type BodyKind = 'json' | 'events' | 'other' | 'unreadable'

export function bodyKindOf(headers: ResponseHeaders): BodyKind {
  const encoding = headers['content-encoding']
  if (headers['content-type'] === 'application/json' && encoding === undefined) return 'json'
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') return 'unreadable'
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) return 'unreadable'
  if (type.trim() === 'application/json') return 'json'
  return type.trim() === 'text/event-stream' ? 'events' : 'other'
}

export interface BodyEvents {
  /** Size of one message. */
  readonly messageBytesMax: number
  onMessages(messages: UpstreamMessages): void
  /** More in one message than the gate reads; the rest of it is passed over. */
  onTooLarge(): void
  /** A stream of lines without an event: it has to be ended. */
  onJunk(): void
  /** An event that is no message, such as the old transport's `endpoint`. */
  onEvent?(event: string, data: string): void
}

export interface ResponseBody {
  /** The size of a message that is not complete. */
  readonly heldBytes: number
  /** What is left of the chunk, perhaps nothing, if other work is to have its turn before more is
   * pushed. */
  push(chunk: Buffer): Buffer | undefined
  end(): void
}

export class JsonBody implements ResponseBody {
  readonly #events: BodyEvents
  readonly #batches: boolean
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(events: BodyEvents, batches: boolean) {
    this.#events = events
    this.#batches = batches
  }

  get heldBytes(): number {
    return this.#chunks.length === 0 ? 0 : this.#bytes
  }

  push(chunk: Buffer): undefined {
    const { messageBytesMax } = this.#events
    const fitted = this.#bytes <= messageBytesMax
    this.#bytes += chunk.length
    if (this.#bytes <= messageBytesMax) {
      this.#chunks.push(chunk)
      return
    }
    this.#chunks = []
    if (fitted) this.#events.onTooLarge()
  }

  end(): void {
    if (this.#bytes === 0 || this.#bytes > this.#events.messageBytesMax) return
    const [only] = this.#chunks
    const whole = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : (only as Buffer)
    this.#events.onMessages(readBytes(whole, this.#batches))
  }
}

function readBytes(bytes: Buffer, batches: boolean): UpstreamMessages {
  try {
    return readUpstreamMessages(decodeUtf8(bytes), batches)
  } catch {
    return { ok: false, why: 'the answer is not UTF-8', answers: undefined }
  }
}

/** So few that the units are not overspent by much. */
const LINES_AT_ONCE = 64

export class EventBody implements ResponseBody {
  readonly parser: EventParser
  readonly #events: BodyEvents
  readonly #batches: () => boolean
  /** Over all chunks since the last turn: a server may send them byte by byte. */
  #units = STREAM_UNITS_PER_TURN

  constructor(events: BodyEvents, batches: () => boolean) {
    this.parser = new EventParser(decodeUtf8, { lengthMax: events.messageBytesMax })
    this.#events = events
    this.#batches = batches
  }

  get heldBytes(): number {
    return this.parser.heldBytes
  }

  push(chunk: Buffer): Buffer | undefined {
    let rest = chunk
    do {
      const before = this.parser.lineCount
      const events = this.parser.push(rest, LINES_AT_ONCE)
      rest = rest.subarray(this.parser.takenBytes)
      this.#units -= this.parser.lineCount - before + events.length * STREAM_UNITS_PER_EVENT
      for (const event of events) this.#take(event)
      if (this.parser.isJunk) {
        this.#events.onJunk()
        return undefined
      }
    } while (rest.length > 0 && this.#units > 0)
    if (this.#units > 0) return undefined
    this.#units = STREAM_UNITS_PER_TURN
    return rest
  }

  #take(event: ReturnType<EventParser['push']>[number]): void {
    if (!event.ok) {
      if (event.code === 'WIRE_UTF8')
        this.#events.onMessages({ ok: false, why: event.message, answers: undefined })
      else this.#events.onTooLarge()
      // An event without text only carries an id, to resume from.
    } else if (event.event === 'message' && event.data !== '')
      this.#events.onMessages(readUpstreamMessages(event.data, this.#batches()))
    else this.#events.onEvent?.(event.event, event.data)
  }

  /** An event that the end of the stream cuts off is dropped. */
  end(): void {}
}
