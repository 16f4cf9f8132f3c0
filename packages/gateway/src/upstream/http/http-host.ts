// What an HTTP transport (Streamable HTTP or the old one) and its exchanges have from the link they
// belong to, and what the link has from the transport. Types only; http.ts is the link.

import type { RequestId } from '@sluice/protocol/message'
import type { Log } from '../../shared/log.ts'
import type { TraceContext } from '../../shared/transport.ts'
import type { UpstreamMessages } from '../read-upstream-messages.ts'
import type { MessageCredential, OutboundRequest, UpstreamFailure } from '../upstream.ts'
import type { MessageHead, UpstreamState } from '../upstream-state.ts'
import type { OriginPools } from './http-pools.ts'

export interface HttpHost {
  readonly name: string
  readonly url: URL
  readonly pools: OriginPools
  readonly messageBytesMax: number
  readonly log: Log
  readonly conversation: UpstreamState
  /** Sessions are not ended at the server: the gate stops, or another gate has taken this one over. */
  readonly isLeaving: boolean
  /** The receiver wants nothing now, from any stream. */
  readonly paused: boolean
  /** What the configuration says, with `own` on top: the same object for the same `own`, as long as
   * nothing has changed. */
  headers(
    own: Readonly<Record<string, string>>,
    authorization?: string | undefined,
  ): Readonly<Record<string, string>>
  deliver(messages: UpstreamMessages, request: RequestId | undefined): void
  fail(failure: UpstreamFailure): void
  /** Sends a message once more that cannot have had an effect, with a newer token if the server refused the one
   * it had; if the server has forgotten the session, leaves that to the owner of the link. False if it was sent
   * once more already. */
  sendAgain(message: OutgoingMessage, failure: UpstreamFailure): boolean
  /** The server ended the stream of this request; it is asked for the rest later. */
  onSuspended(request: RequestId): void
  /** The link cannot go on. */
  giveUp(failure: UpstreamFailure, why?: string): void
  /** How long to read no further, after so many bytes. */
  restMs(bytes: number): number
  /** A server of the first revision: tries its transport, with this first message. */
  tryOld(first: OutgoingMessage, failure: UpstreamFailure): void
}

export interface OutgoingMessage {
  readonly text: string
  readonly sent: MessageHead
  readonly trace: TraceContext | undefined
  readonly passing: OutboundRequest | undefined
  /** The credential of its own caller, and what it was sent with; undefined: that of the link. */
  readonly credential?: MessageCredential | undefined
  authorization?: string | undefined
  /** The server refused the token that it was first sent with. */
  readonly isRenewed?: boolean
  /** It was refused once, and could not have had an effect. */
  readonly again?: boolean | undefined
}

export interface HttpTransport {
  /** The name that the server has for the session, if it has one. */
  readonly sessionId?: string | undefined
  /** Opens the stream for the server's own messages, in a session that began elsewhere. */
  listen?(): void
  /** Messages under way, or waiting to be. */
  readonly size: number
  send(message: OutgoingMessage): void
  pause(request?: RequestId): void
  resume(request?: RequestId): void
  abort(request: RequestId): void
  /** Requests that never left, and a promise of the last exchange's end. */
  close(): { unwritten: RequestId[]; over: Promise<void> }
}
