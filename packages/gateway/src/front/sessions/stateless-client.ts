// Clients of the stateless generation (2026-07-28) of one principal, as one link to a server: requests that
// have nothing to do with each other, each a POST with an answer of its own. Their ids may be the
// same, so each gets a name here; going away is how one is cancelled.

import type { Caller } from '@sluice/access/identity/callers/caller'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject } from '@sluice/protocol/members'
import type { JsonRpcRequest, RequestId } from '@sluice/protocol/message'
import { META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { withResponseId, writeError, writeMembers } from '@sluice/protocol/write-message'
import {
  type ClientEvents,
  type ClientTransport,
  type MessageContext,
  NO_CLIENT_EVENTS,
} from '../../shared/transport.ts'
import { ClientExchange, NO_SESSION } from '../exchange/exchange.ts'
import type { ResponseWriter } from '../exchange/response-writer.ts'
import { type ClientOpening, cancelOf } from './front-session.ts'

interface OpenRequest {
  /** The id that the client gave. */
  readonly id: RequestId
  readonly exchange: ClientExchange
  readonly listens: boolean
}

/** Errors that HTTP has a word for; every other is an answer like any. */
const STATUS: ReadonlyMap<number, number> = new Map([
  [RPC.methodNotFound, 404],
  [RPC.headerMismatch, 400],
  [RPC.missingCapability, 400],
  [RPC.unsupportedVersion, 400],
])

export class StatelessClient implements ClientTransport {
  readonly generation = 'stateless'
  readonly server: string
  /** The caller of the newest request; always of one principal. */
  caller: Caller
  revision = STATELESS_REVISION
  lastUsedMs: number
  #events: ClientEvents = NO_CLIENT_EVENTS
  readonly #onEnd: (why: string) => void
  readonly #open = new Map<RequestId, OpenRequest>()
  #lastName = 0
  #closing = false
  #closed = false

  constructor({ server, caller, nowMs, connect, onEnd }: ClientOpening<StatelessClient>) {
    this.server = server
    this.caller = caller
    this.lastUsedMs = nowMs
    this.#onEnd = onEnd
    this.#events = connect(this)
  }

  get openRequests(): number {
    return this.#open.size
  }

  get isIdle(): boolean {
    return this.#open.size === 0
  }

  get spare(): number | undefined {
    if ([...this.#open.values()].some(({ listens }) => !listens)) return undefined
    return this.isIdle ? this.lastUsedMs : this.lastUsedMs + Number.MAX_SAFE_INTEGER / 2
  }

  accept(request: JsonRpcRequest, related: MessageContext, reply: ResponseWriter): void {
    const name = `r${++this.#lastName}`
    const listens = request.method === 'subscriptions/listen'
    const exchange = new ClientExchange(reply, NO_SESSION, {
      ids: [name],
      batch: false,
      events: {
        onGone: () => this.#abandon(name),
        onFull: (isFull) => this.#events.onPressure(isFull, name),
      },
    })
    this.#open.set(name, { id: request.id, exchange, listens })
    this.#events.onMessage({ ...request, id: name }, related)
  }

  send(text: string, { request, answers, errorCode }: MessageContext = {}): boolean {
    const open = this.#open.get(request as RequestId)
    if (this.#closed || open === undefined) return false
    if (!answers) return open.exchange.tell(open.listens ? subscribed(text, open.id) : text)
    this.#open.delete(request as RequestId)
    const status = STATUS.get(errorCode ?? 0) ?? 200
    open.exchange.answer(
      request as RequestId,
      withResponseId(text, request as RequestId, open.id),
      status,
    )
    return true
  }

  drop(request: RequestId): void {
    this.#open.get(request)?.exchange.drop(request)
    this.#open.delete(request)
  }

  pulse(): void {
    for (const { exchange } of this.#open.values()) exchange.pulse()
  }

  close(why: string): void {
    if (this.#closing) return
    this.#closing = true
    // The receiver may still answer open requests, with a better message.
    this.#onEnd(why)
    this.#events.onClose(why)
    this.#closed = true
    for (const [name, { id, exchange }] of this.#open)
      exchange.answer(name, writeError(id, RPC.internal, why))
    this.#open.clear()
  }

  #abandon(name: RequestId): void {
    this.#open.delete(name)
    this.#events.onMessage(cancelOf(name))
  }
}

/** A notification under the id that the client knows its subscription by. */
function subscribed(text: string, id: RequestId): string {
  const message = splitMembers(text)
  const params = splitMembers(message.get('params') ?? '{}')
  params.set('_meta', patchObject(params.get('_meta'), { [META.subscription]: JSON.stringify(id) }))
  return writeMembers(message.set('params', writeMembers(params)))
}
