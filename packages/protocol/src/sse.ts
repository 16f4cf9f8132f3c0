// Server-sent events (text/event-stream, HTML standard): an incremental parser with bounds, and the
// encoder. Stricter than the standard in one respect: an event whose bytes are not UTF-8 is
// refused. Pure; the HTTP front writes them, the transports to HTTP servers read them.

import {
  EVENT_FIELD_LENGTH_MAX,
  EVENT_IDLE_LINES_MAX,
  EVENT_LENGTH_MAX,
  EVENT_LINES_MAX,
  EVENT_RETRY_MS_MAX,
} from './json/limits.ts'
import { type DecodedLine, type DecodeText, LineSplitter, type RejectedLine } from './lines.ts'
import { oneLine } from './write-message.ts'

export interface StreamEvent {
  readonly ok: true
  /** `message` by default. */
  readonly event: string
  readonly data: string
  /** The last id that the stream has named; undefined if it has named none. */
  readonly id: string | undefined
}

export interface EventLimits {
  /** How long the data of one event may be, in UTF-16 code units. A line may have as many bytes. */
  readonly lengthMax: number
  readonly linesMax: number
}

const EVENT_LIMITS: EventLimits = { lengthMax: EVENT_LENGTH_MAX, linesMax: EVENT_LINES_MAX }
const BYTE_ORDER_MARK = '\ufeff'
/** `data: ` before a line. */
const FIELD_NAME_BYTES = 6

export class EventParser {
  /** The id of the last event that ended, refused or not. It is sent as `Last-Event-ID` on reconnection. */
  lastEventId: string | undefined
  /** Reconnection delay requested by the server. */
  retryMs: number | undefined

  readonly #limits: EventLimits
  readonly #lines: LineSplitter
  #isFirstLine = true
  #data: string[] = []
  #length = 0
  #event = ''
  #id: string | undefined
  /** The event was refused; the rest of it is skipped. */
  #isSkipping = false
  #lineCount = 0
  /**
   * Lines since the last event that are not part of the next: comments, blank lines, other fields.
   */
  #idleLines = 0

  constructor(decode: DecodeText, limits: Partial<EventLimits> = {}) {
    this.#limits = { ...EVENT_LIMITS, ...limits }
    const lineBytesMax = this.#limits.lengthMax + FIELD_NAME_BYTES
    this.#lines = new LineSplitter(decode, { lineBytesMax, breaks: 'any' })
  }

  /** How many bytes of the last chunk were read. */
  get takenBytes(): number {
    return this.#lines.takenBytes
  }

  /** How many bytes of the event that is not complete are in memory. */
  get heldBytes(): number {
    return this.#lines.heldBytes + this.#length
  }

  /** All lines so far. */
  get lineCount(): number {
    return this.#lineCount
  }

  /** Too many lines without an event: the stream is not worth reading. */
  get isJunk(): boolean {
    return this.#idleLines > EVENT_IDLE_LINES_MAX
  }

  /**
   * The events that end in this chunk, and one that is refused in it. An event truncated by the end
   * of the stream is dropped. After `linesMax` lines the rest of the chunk has to be pushed again.
   */
  push(chunk: Uint8Array, linesMax?: number): (StreamEvent | RejectedLine)[] {
    const events: (StreamEvent | RejectedLine)[] = []
    for (const line of this.#lines.push(chunk, linesMax)) {
      this.#lineCount++
      this.#idleLines++
      const event = this.#take(line)
      if (event !== undefined) events.push(event)
    }
    return events
  }

  #take(line: DecodedLine): StreamEvent | RejectedLine | undefined {
    const isFirst = this.#isFirstLine
    this.#isFirstLine = false
    if (!line.ok) return this.#refuse(line)
    const text = isFirst && line.text.startsWith(BYTE_ORDER_MARK) ? line.text.slice(1) : line.text
    if (text === '') return this.#endEvent()
    const colon = text.indexOf(':')
    if (colon === 0) return undefined
    if (colon < 0) return this.#takeField(text, '')
    const from = text[colon + 1] === ' ' ? colon + 2 : colon + 1
    return this.#takeField(text.slice(0, colon), text.slice(from))
  }

  #takeField(name: string, value: string): RejectedLine | undefined {
    if (name === 'data') return this.#takeData(value)
    if (name === 'retry' && /^\d{1,15}$/.test(value))
      this.retryMs = Math.min(Number(value), EVENT_RETRY_MS_MAX)
    if (name !== 'event' && name !== 'id') return undefined
    if (value.length > EVENT_FIELD_LENGTH_MAX)
      return this.#refuseSize(`\`${name}\` has more than ${EVENT_FIELD_LENGTH_MAX} characters`)
    if (name === 'event') this.#event = value
    else if (!value.includes('\0')) this.#id = value
    return undefined
  }

  #takeData(value: string): RejectedLine | undefined {
    if (this.#isSkipping) return undefined
    const { lengthMax, linesMax } = this.#limits
    this.#length += value.length + (this.#data.length > 0 ? 1 : 0)
    if (!(this.#length <= lengthMax))
      return this.#refuseSize(`its data has more than ${lengthMax} characters`)
    if (!(this.#data.length < linesMax))
      return this.#refuseSize(`its data has more than ${linesMax} lines`)
    this.#data.push(value)
    this.#idleLines--
    return undefined
  }

  #endEvent(): StreamEvent | undefined {
    this.lastEventId = this.#id
    const event = this.#event || 'message'
    const data = this.#data
    const isEvent = data.length > 0 && !this.#isSkipping
    this.#isSkipping = false
    this.#clear()
    if (isEvent) this.#idleLines = 0
    return isEvent ? { ok: true, event, data: data.join('\n'), id: this.#id } : undefined
  }

  #refuseSize(why: string): RejectedLine | undefined {
    return this.#refuse({
      ok: false,
      code: 'WIRE_EVENT_SIZE',
      message: `an event is too large: ${why}`,
    })
  }

  /** At most once per event. */
  #refuse(refused: RejectedLine): RejectedLine | undefined {
    if (this.#isSkipping) return undefined
    this.#isSkipping = true
    this.#clear()
    return refused
  }

  #clear(): void {
    this.#data = []
    this.#length = 0
    this.#event = ''
  }
}

/** A `ReadableStream`, whose types a pure module does not have. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

/**
 * The events of a response body as they arrive, for clients that read one stream from its beginning. Events
 * without data are left out: they only carry an id to resume from. Throws if an event is refused.
 */
export async function* readEvents(
  body: ByteStream,
  decode: DecodeText,
  limits?: Partial<EventLimits>,
): AsyncGenerator<StreamEvent> {
  const parser = new EventParser(decode, limits)
  const reader = body.getReader()
  try {
    for (;;) {
      const { value } = await reader.read()
      if (value === undefined) return
      for (const event of parser.push(value)) {
        if (!event.ok) throw new Error(event.message)
        if (event.data !== '') yield event
      }
      if (parser.isJunk) throw new Error('the stream has lines, but no event')
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** `data` is JSON, or a text without line breaks; `id` and `event` are created by the gate. */
export function encodeEvent(event: {
  readonly id?: string
  readonly event?: string
  readonly retryMs?: number
  readonly data: string
}): string {
  const retry = event.retryMs === undefined ? '' : `retry: ${event.retryMs}\n`
  const head = field('id', event.id) + field('event', event.event) + retry
  return `${head}data: ${oneLine(event.data)}\n\n`
}

function field(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (/[\n\r\0]/.test(value)) throw new Error(`the \`${name}\` of an event has a line break`)
  return `${name}: ${value}\n`
}
