// A client's session over Streamable HTTP, as a link: messages come in by POST and go out on the
// POST they belong to, or on the client's GET stream. What cannot be delivered yet waits, bounded.

import type { Caller } from '@sluice/access/identity/callers/caller'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import {
  REPLAY_STREAMS_MAX,
  SESSION_EVENTS_LENGTH_MAX,
  SESSION_EVENTS_MAX,
} from '../../shared/limits.ts'
import { SmallMap } from '../../shared/small-map.ts'
import { type ClientEvents, type MessageContext, NO_CLIENT_EVENTS } from '../../shared/transport.ts'
import { EventStream } from '../exchange/event-stream.ts'
import {
  ClientExchange,
  type ExchangeEvents,
  type History,
  type SessionHeaders,
} from '../exchange/exchange.ts'
import type { ReplayStore } from '../exchange/replay.ts'
import {
  JSON_TYPE,
  type OutgoingHeaders,
  type ResponseWriter,
} from '../exchange/response-writer.ts'
import {
  type ClientOpening,
  type ClientSession,
  cancelOf,
  checkRequestIds,
  requestIds,
} from './front-session.ts'

/**
 * Messages for a client's GET stream, the newest last: kept until it opens one, and for a client
 * that lost its stream and comes back for what it missed. Nothing is told twice to one that does not
 * ask for it. The oldest go first when there are many.
 */
class EventBuffer {
  #events: KeptEvent[] = []
  #length = 0
  #last: number
  #lastSent: number

  /** `before` is the number before the first. */
  constructor(before: number) {
    this.#last = before
    this.#lastSent = before
  }

  /** Says the id that the event goes out with. */
  add(text: string): string {
    const number = ++this.#last
    const event = { id: `g${number}`, number, text }
    this.#events.push(event)
    this.#length += text.length
    while (this.#events.length > SESSION_EVENTS_MAX || this.#length > SESSION_EVENTS_LENGTH_MAX)
      this.#length -= this.#events.shift()?.text.length ?? 0
    return event.id
  }

  /** What a stream has to begin with: what came after the last event the client saw, where it says
   * so, else what no stream has carried yet. */
  after(lastId: string | undefined): readonly KeptEvent[] {
    const said = /^g\d+$/.test(lastId ?? '') ? Number(lastId?.slice(1)) : Number.POSITIVE_INFINITY
    // A number that is still to come is from before a restart, when the clock was ahead.
    const seen = said > this.#last ? this.#lastSent : said
    return this.#events.filter(({ number }) => number > seen)
  }

  /** A stream carries them all from now on. */
  allSent(): void {
    this.#lastSent = this.#last
  }
}

export interface HttpSessionOptions extends Omit<ClientOpening<HttpSession>, 'onEnd'> {
  readonly id: string
  /** Names the session for rules and limits; stays as it is if `id` becomes another. */
  readonly sessionKey: string
  readonly replays: ReplayStore
  /** Events and streams are numbered from after this. */
  readonly eventsBefore?: number
  /** The revision of a session that is resumed. */
  readonly revision?: string
  /** Once, before the client knows the id of its session: the id may become another. */
  readonly onBegun?: (session: HttpSession, handle: string | undefined) => void
  readonly onEnd?: (why: string) => void
}

/** Since when clients know events without data, and come back where a stream ends before its answer. */
const PRIMED_SINCE = '2025-11-25'
const POST_EVENT = /^p(\d{1,16})-(\d{1,16})$/
const OVER = 'this session is over: send `initialize` again'
const NO_REPLAY =
  'what came after this event is no longer kept: whether the call was carried out is in the ledger'

export class HttpSession implements ClientSession, SessionHeaders {
  readonly generation = 'session'
  id: string
  readonly sessionKey: string
  readonly server: string
  caller: Caller
  revision: string
  lastUsedMs: number
  answerHeaders: OutgoingHeaders
  #streamHeaders: OutgoingHeaders
  #isNamed = false
  readonly #options: HttpSessionOptions
  #events: ClientEvents = NO_CLIENT_EVENTS
  readonly #exchanges = new SmallMap<RequestId, ClientExchange>()
  readonly #buffer: EventBuffer
  readonly #replays: ReplayStore
  /** Exchanges that became streams, by the number of the stream: the oldest first. */
  readonly #streams = new Map<number, ClientExchange>()
  #lastStream: number
  /** The request that opened the session. */
  #opening: RequestId | undefined
  #stream: EventStream | undefined
  readonly #ofExchanges: ExchangeEvents = {
    onGone: (open) => this.#abandon(open),
    onFull: (isFull, of) => {
      for (const id of of) this.#events.onPressure(isFull, id)
    },
  }
  #closing = false
  #closed = false

  constructor(options: HttpSessionOptions) {
    const { id, sessionKey, server, caller, nowMs, replays, eventsBefore = 0 } = options
    this.#options = options
    this.revision = options.revision ?? ''
    this.id = id
    this.sessionKey = sessionKey
    this.#buffer = new EventBuffer(eventsBefore)
    this.#replays = replays
    this.#lastStream = eventsBefore
    this.#streamHeaders = { 'mcp-session-id': id }
    this.answerHeaders = { ...JSON_TYPE, ...this.#streamHeaders }
    this.server = server
    this.caller = caller
    this.lastUsedMs = nowMs
    this.#events = options.connect(this)
  }

  get openRequests(): number {
    return this.#exchanges.size
  }

  get isIdle(): boolean {
    return this.#exchanges.size === 0 && this.#stream === undefined
  }

  /** Idle ones first, the longest unused of them, then those that only listen. */
  get spare(): number | undefined {
    if (this.#exchanges.size > 0) return undefined
    return this.isIdle ? this.lastUsedMs : this.lastUsedMs + Number.MAX_SAFE_INTEGER / 2
  }

  begun(handle: string | undefined): void {
    if (this.#isNamed) return
    this.#isNamed = true
    this.#options.onBegun?.(this, handle)
    this.#streamHeaders = { 'mcp-session-id': this.id }
    this.answerHeaders = { ...JSON_TYPE, ...this.#streamHeaders }
  }

  /** A stream that opens before the server has answered `initialize` tells the client the id, which holds from then on. */
  get streamHeaders(): OutgoingHeaders {
    this.begun(undefined)
    return this.#streamHeaders
  }

  refuses(messages: readonly JsonRpcMessage[]): string | undefined {
    return checkRequestIds(messages, this.#exchanges)
  }

  accept(
    messages: readonly JsonRpcMessage[],
    batch: boolean,
    related: MessageContext,
    reply: ResponseWriter,
  ): void {
    if (this.#closed) return reply.send(404, JSON_TYPE, writeError(null, RPC.invalidRequest, OVER))
    const ids = requestIds(messages)
    this.#opening ??= ids[0]
    if (ids.length > 0) {
      const exchange = new ClientExchange(reply, this, { ids, batch, events: this.#ofExchanges })
      for (const id of ids) this.#exchanges.set(id, exchange)
    }
    for (const message of messages) this.#events.onMessage(message, related)
    if (ids.length === 0) reply.send(202, this.streamHeaders)
  }

  readonly openHistory = (exchange: ClientExchange): History | undefined => {
    // A client that does not know its session yet cannot come back to it.
    if (this.revision === '' || this.#closing) return undefined
    const number = ++this.#lastStream
    this.#streams.set(number, exchange)
    const [oldest] = this.#streams.values()
    if (this.#streams.size > REPLAY_STREAMS_MAX) oldest?.forget()
    const buffer = this.#replays.open()
    return {
      name: `p${number}`,
      buffer,
      primes: this.revision >= PRIMED_SINCE,
      forget: () => {
        this.#streams.delete(number)
        buffer.release()
      },
    }
  }

  /** The server behind ended the stream of this request, and goes on with it later. */
  suspend(request: RequestId): void {
    this.#exchanges.get(request)?.suspend()
  }

  /** The client's GET: one at a time, the newest holds, and missed events come first; or the stream of
   * a POST that broke, beside it. */
  listen(reply: ResponseWriter, lastEventId: string | undefined): void {
    const post = POST_EVENT.exec(lastEventId ?? '')
    if (post !== null) {
      const exchange = this.#streams.get(Number(post[1]))
      if (exchange?.resume(reply, Number(post[2])) !== true)
        reply.send(410, JSON_TYPE, writeError(null, RPC.invalidRequest, NO_REPLAY))
      return
    }
    this.#stream?.end()
    // Nobody is paused for it: what comes unasked must not stop what was asked for.
    const stream = new EventStream(reply, this.streamHeaders, {
      onEnd: () => {
        if (this.#stream === stream) this.#stream = undefined
      },
    })
    this.#stream = stream
    for (const { id, text } of this.#buffer.after(lastEventId)) stream.write(text, id)
    this.#buffer.allSent()
  }

  send(text: string, { request, answers }: MessageContext = {}): boolean {
    if (this.#closed) return false
    const exchange = request === undefined ? undefined : this.#exchanges.get(request)
    if (answers) {
      // The answer to a request whose client has gone away has nobody to go to.
      this.#exchanges.delete(request as RequestId)
      exchange?.answer(request as RequestId, text)
      return exchange !== undefined
    }
    if (!exchange?.tell(text)) this.#tell(text)
    return true
  }

  drop(request: RequestId): void {
    this.#exchanges.get(request)?.drop(request)
    this.#exchanges.delete(request)
  }

  /** Every open stream shows that it lives; a request without an answer yet becomes one. */
  pulse(): void {
    this.#stream?.pulse()
    for (const exchange of new Set(this.#exchanges.values())) exchange.pulse()
  }

  close(why: string): void {
    if (this.#closing) return
    this.#closing = true
    // The receiver may still answer open requests, with a better message.
    this.#options.onEnd?.(why)
    this.#events.onClose(why)
    this.#closed = true
    for (const [id, exchange] of this.#exchanges.entries())
      exchange.answer(id, writeError(id, RPC.internal, why))
    this.#exchanges.clear()
    for (const exchange of [...this.#streams.values()]) exchange.forget()
    this.#stream?.end()
  }

  /** On the GET stream, or the stream of any open request, or kept until there is one. */
  #tell(text: string): void {
    const exchange = [...this.#exchanges.values()].find(({ isAttached }) => isAttached)
    if (this.#stream === undefined && exchange?.tell(text)) return
    const id = this.#buffer.add(text)
    if (this.#stream?.write(text, id)) this.#buffer.allSent()
  }

  /** The client went away in the middle: its open requests are cancelled. */
  #abandon(open: readonly RequestId[]): void {
    for (const id of open) {
      this.#exchanges.delete(id)
      this.#events.onMessage(cancelOf(id))
    }
    // Nobody else knows its id.
    if (this.revision === '' && open.includes(this.#opening as RequestId))
      this.close('the client went away before the session began')
  }
}

interface KeptEvent {
  readonly id: string
  readonly number: number
  readonly text: string
}
