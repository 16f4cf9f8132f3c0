// A client's session over Streamable HTTP, as a link: messages come in by POST and go out on the
// POST they belong to, or on the client's GET stream. What cannot be delivered yet waits, bounded.
import { SESSION_EVENTS_MAX, SESSION_REQUESTS_MAX } from '../limits.ts'
import { EventStream } from './event-stream.ts'
import { Exchange } from './exchange.ts'
export class HttpSession {
  id
  /** The revision both sides agreed on; empty until then. */
  revision = ''
  lastUsedMs
  onMessage = () => {}
  onClose = () => {}
  #exchanges = new Map()
  /** Events for the GET stream, the newest last; kept for a client that comes back for them. */
  #events = []
  #nextEvent = 1
  #stream
  #closed = false
  constructor(id, nowMs) {
    this.id = id
    this.lastUsedMs = nowMs
  }
  get closed() {
    return this.#closed
  }
  get openRequests() {
    return this.#exchanges.size
  }
  /** A request id that is still open must not be used again; too many open ones are refused. */
  refuses(messages) {
    const ids = requestIds(messages)
    if (new Set(ids).size < ids.length || ids.some((id) => this.#exchanges.has(id)))
      return 'a request with this id is still open'
    if (this.#exchanges.size + ids.length > SESSION_REQUESTS_MAX)
      return `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
    return undefined
  }
  accept(messages, batch, response) {
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
  listen(response, lastEventId) {
    this.#stream?.end()
    const stream = new EventStream(response, { 'mcp-session-id': this.id }, () => {
      if (this.#stream === stream) this.#stream = undefined
    })
    this.#stream = stream
    const after = /^g\d+$/.test(lastEventId ?? '') ? Number(lastEventId?.slice(1)) : 0
    for (const event of this.#events) if (event.id > after) stream.write(`g${event.id}`, event.text)
  }
  send(text, { request, answers } = {}) {
    if (this.#closed) return false
    const exchange = request === undefined ? undefined : this.#exchanges.get(request)
    if (exchange !== undefined && answers) {
      this.#exchanges.delete(request)
      exchange.answer(request, text)
      return true
    }
    // The answer to a request whose client has gone away has nobody to go to.
    if (answers) return false
    if (exchange?.tell(text)) return true
    return this.#tell(text)
  }
  close(why) {
    if (this.#closed) return
    this.#closed = true
    this.#stream?.end()
    this.#exchanges.clear()
    this.onClose(why)
  }
  /** On the GET stream, or the stream of any open request, or kept until there is one. */
  #tell(text) {
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
  #abandon(open) {
    for (const id of open) {
      this.#exchanges.delete(id)
      const value = { requestId: id, reason: 'the client went away' }
      const text = new Map(Object.entries(value).map(([key, part]) => [key, JSON.stringify(part)]))
      const method = 'notifications/cancelled'
      this.onMessage({ kind: 'notification', method, params: { value, text }, source: '' })
    }
  }
}
function requestIds(messages) {
  return messages.flatMap((message) => (message.kind === 'request' ? [message.id] : []))
}
