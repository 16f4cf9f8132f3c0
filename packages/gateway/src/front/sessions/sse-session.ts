// A client's session over the HTTP+SSE transport of 2024-11-05, as a link: a GET opens one stream
// that first says where to POST and then carries everything; POSTs are only acknowledged. The session
// lasts as long as its stream. The server is connected by `initialize`, not by the GET: a client that
// only opens a stream starts no process.

import type { Caller } from '@sluice/access/identity/callers/caller'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import { SSE_INITIALIZE_MS } from '../../shared/limits.ts'
import { type ClientEvents, type MessageContext, NO_CLIENT_EVENTS } from '../../shared/transport.ts'
import { EventStream } from '../exchange/event-stream.ts'
import type { ResponseWriter } from '../exchange/response-writer.ts'
import {
  type ClientOpening,
  type ClientSession,
  checkRequestIds,
  requestIds,
} from './front-session.ts'

export interface SseOpening extends ClientOpening<SseSession> {
  readonly id: string
  readonly reply: ResponseWriter
  /** The path of the request, to which the client is to POST. */
  readonly path: string
}

export class SseSession implements ClientSession {
  readonly generation = 'session'
  readonly id: string
  readonly server: string
  caller: Caller
  revision = ''
  lastUsedMs: number
  #events: ClientEvents = NO_CLIENT_EVENTS
  readonly #onEnd: (why: string) => void
  readonly #stream: EventStream
  readonly #open = new Set<RequestId>()
  readonly #patience: NodeJS.Timeout
  /** Until `initialize` has come. */
  #connect: SseOpening['connect'] | undefined
  #closing = false
  #closed = false

  constructor({ id, server, caller, nowMs, connect, onEnd, reply, path }: SseOpening) {
    this.id = id
    this.server = server
    this.caller = caller
    this.lastUsedMs = nowMs
    this.#connect = connect
    this.#onEnd = onEnd
    this.#stream = new EventStream(
      reply,
      {},
      {
        onEnd: () => this.close('the client went away'),
        onFull: (isFull) => this.#events.onPressure(isFull, undefined),
      },
    )
    this.#stream.write(`${path}?session=${id}`, undefined, 'endpoint')
    const why = 'no `initialize` came'
    this.#patience = setTimeout(() => this.close(why), SSE_INITIALIZE_MS).unref()
  }

  get openRequests(): number {
    return this.#open.size
  }

  /** Its client cannot resume it, but can initialize again: evicted after other sessions that only listen. */
  get spare(): number | undefined {
    return this.#open.size > 0 ? undefined : this.lastUsedMs + Number.MAX_SAFE_INTEGER / 2
  }

  get isIdle(): boolean {
    return this.#connect !== undefined
  }

  refuses(messages: readonly JsonRpcMessage[]): string | undefined {
    const [first] = messages
    const opens = first?.kind === 'request' && first.method === 'initialize'
    if (this.#connect !== undefined && !opens) return 'send `initialize` first'
    return checkRequestIds(messages, this.#open)
  }

  accept(
    messages: readonly JsonRpcMessage[],
    _batch: boolean,
    _related: MessageContext,
    reply: ResponseWriter,
  ): void {
    this.#begin()
    reply.send(202, { 'content-type': 'text/plain; charset=utf-8' }, 'Accepted')
    for (const id of requestIds(messages)) this.#open.add(id)
    for (const message of messages) this.#events.onMessage(message)
  }

  /** The stream it has is the only one of this transport. */
  listen(reply: ResponseWriter): void {
    reply.send(405, { allow: 'POST' })
  }

  send(text: string, { request, answers }: MessageContext = {}): boolean {
    if (this.#closed) return false
    // The answer to a request that was cancelled has nobody to go to.
    if (answers && !this.#open.delete(request as RequestId)) return false
    return this.#stream.write(text)
  }

  drop(request: RequestId): void {
    this.#open.delete(request)
  }

  pulse(): void {
    this.#stream.pulse()
  }

  close(why: string): void {
    if (this.#closing) return
    this.#closing = true
    clearTimeout(this.#patience)
    // The receiver may still answer open requests, with a better message.
    this.#onEnd(why)
    this.#events.onClose(why)
    this.#closed = true
    for (const id of this.#open) this.#stream.write(writeError(id, RPC.internal, why))
    this.#open.clear()
    this.#stream.end()
  }

  #begin(): void {
    const connect = this.#connect
    if (connect === undefined) return
    this.#connect = undefined
    clearTimeout(this.#patience)
    this.#events = connect(this)
  }
}
