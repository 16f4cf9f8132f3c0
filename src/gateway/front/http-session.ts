// A client's session over Streamable HTTP, as a link: messages come in by POST and go out on the
// POST they belong to, or on the client's GET stream. What cannot be delivered yet waits, bounded.

import type { ServerResponse } from 'node:http'
import type { Id, Message } from '../../wire/message.ts'
import { SESSION_EVENTS_MAX, SESSION_REQUESTS_MAX } from '../limits.ts'
import type { Link, Related } from '../link.ts'
import { EventStream } from './event-stream.ts'
import { Exchange } from './exchange.ts'

export class HttpSession implements Link {
  readonly id: string
  /** The revision both sides agreed on; empty until then. */
  revision = ''
  lastUsedMs: number
  onMessage: Link['onMessage'] = () => {}
  onClose: Link['onClose'] = () => {}
  readonly #exchanges = new Map<Id, Exchange>()
  /** Events for the GET stream, the newest last; kept for a client that comes back for them. */
  #events: { readonly id: number; readonly text: string }[] = []
  #nextEvent = 1
  #stream: EventStream | undefined
  #closed = false

  constructor(id: string, nowMs: number) {
    this.id = id
    this.lastUsedMs = nowMs
  }

  get closed(): boolean {
    return this.#closed
  }

  get openRequests(): number {
    return this.#exchanges.size
  }

  /** A request id that is still open must not be used again; too many open ones are refused. */
  refuses(messages: readonly Message[]): string | undefined {
    const ids = requestIds(messages)
    if (new Set(ids).size < ids.length || ids.some((id) => this.#exchanges.has(id)))
      return 'a request with this id is still open'
    if (this.#exchanges.size + ids.length > SESSION_REQUESTS_MAX)
      return `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
    return undefined
  }

  accept(messages: readonly Message[], batch: boolean, response: ServerResponse): void {
    const ids = requestIds(messages)
    if (ids.length > 0) {
      const headers = { 'mcp-session-id': this.id }
      const exchange = new Exchange(response, headers, ids, batch, (open) => this.#abandon(open))
      for (const id of ids) this.#exchanges.set(id, exchange)
    }
    for (const message of messages) this.onMessage(message)
    if (ids.length === 0) response.writeHead(202, { 'mcp-session-id': this.id }).end()
  }

  /** The client's GET: one at a time, the newest holds. Missed events come first. */
  listen(response: ServerResponse, lastEventId: string | undefined): void {
    this.#stream?.end()
    const stream = new EventStream(response, { 'mcp-session-id': this.id }, () => {
      if (this.#stream === stream) this.#stream = undefined
    })
    this.#stream = stream
    const after = /^g\d+$/.test(lastEventId ?? '') ? Number(lastEventId?.slice(1)) : 0
    for (const event of this.#events) if (event.id > after) stream.write(`g${event.id}`, event.text)
  }

  send(text: string, { request, answers }: Related = {}): boolean {
    if (this.#closed) return false
    const exchange = request === undefined ? undefined : this.#exchanges.get(request)
    if (exchange !== undefined && answers) {
      this.#exchanges.delete(request as Id)
      exchange.answer(request as Id, text)
      return true
    }
    // The answer to a request whose client has gone away has nobody to go to.
    if (answers) return false
    if (exchange?.tell(text)) return true
    return this.#tell(text)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#stream?.end()
    this.#exchanges.clear()
    this.onClose(why)
  }

  /** On the GET stream, or the stream of any open request, or kept until there is one. */
  #tell(text: string): boolean {
    const event = { id: this.#nextEvent++, text }
    if (this.#stream === undefined) {
      const [exchange] = this.#exchanges.values()
      if (exchange?.tell(text)) return true
    }
    this.#events.push(event)
    if (this.#events.length > SESSION_EVENTS_MAX)
      this.#events = this.#events.slice(-SESSION_EVENTS_MAX)
    this.#stream?.write(`g${event.id}`, text)
    return true
  }

  /** The client went away in the middle: its open requests are cancelled. */
  #abandon(open: readonly Id[]): void {
    for (const id of open) {
      this.#exchanges.delete(id)
      const value = { requestId: id, reason: 'the client went away' }
      const text = new Map(Object.entries(value).map(([key, part]) => [key, JSON.stringify(part)]))
      const method = 'notifications/cancelled'
      this.onMessage({ kind: 'notification', method, params: { value, text }, source: '' })
    }
  }
}

function requestIds(messages: readonly Message[]): Id[] {
  return messages.flatMap((message) => (message.kind === 'request' ? [message.id] : []))
}
