// What the HTTP front knows of a client's session, whichever transport the client speaks; and what
// holds for the ids of its requests in all of them.

import type { Caller } from '@sluice/access/identity/callers/caller'
import { CLIENT_GONE } from '@sluice/protocol/agent-calls'
import type { JsonRpcMessage, JsonRpcNotification, RequestId } from '@sluice/protocol/message'
import { SESSION_REQUESTS_MAX } from '../../shared/limits.ts'
import type { ClientEvents, ClientTransport, MessageContext } from '../../shared/transport.ts'
import type { ResponseWriter } from '../exchange/response-writer.ts'

export interface ClientSession extends ClientTransport {
  readonly id: string
  readonly server: string
  /** The caller of the newest request: a client comes back with a newer token. */
  caller: Caller
  lastUsedMs: number
  readonly openRequests: number
  /** Nobody waits for it, and nobody listens. */
  readonly isIdle: boolean
  /** Why these messages are refused, or undefined. */
  refuses(messages: readonly JsonRpcMessage[]): string | undefined
  /** The messages of one POST with what came beside them, and where the answer goes. */
  accept(
    messages: readonly JsonRpcMessage[],
    batch: boolean,
    related: MessageContext,
    reply: ResponseWriter,
  ): void
  /** A GET that names the session. */
  listen(reply: ResponseWriter, lastEventId: string | undefined): void
  /** Every open stream shows that it lives. */
  pulse(): void
}

/** What every client begins with. */
export interface ClientOpening<Client> {
  readonly server: string
  readonly caller: Caller
  readonly nowMs: number
  /** Puts the gate behind the client, which is ready for messages when that returns. */
  readonly connect: (client: Client) => ClientEvents
  readonly onEnd: (why: string) => void
}

/** What a client would say that gives a request up. */
export function cancelOf(requestId: RequestId): JsonRpcNotification {
  const value = { requestId, reason: CLIENT_GONE }
  const text = new Map(Object.entries(value).map(([key, part]) => [key, JSON.stringify(part)]))
  const method = 'notifications/cancelled'
  return { kind: 'notification', method, params: { value, text }, source: '' }
}

const NO_IDS: readonly RequestId[] = []

export function requestIds(messages: readonly JsonRpcMessage[]): readonly RequestId[] {
  const [only] = messages
  if (messages.length === 1) return only?.kind === 'request' ? [only.id] : NO_IDS
  return messages.flatMap((message) => (message.kind === 'request' ? [message.id] : []))
}

/** A request id that is still open must not be used again; too many open ones are refused. */
export function checkRequestIds(
  messages: readonly JsonRpcMessage[],
  open: { has(id: RequestId): boolean; readonly size: number },
): string | undefined {
  const ids = requestIds(messages)
  if ((ids.length > 1 && new Set(ids).size < ids.length) || ids.some((id) => open.has(id)))
    return 'a request with this id is still open'
  if (open.size + ids.length > SESSION_REQUESTS_MAX)
    return `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
  return undefined
}
