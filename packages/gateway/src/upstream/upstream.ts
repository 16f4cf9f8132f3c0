// A connection to a server, and what it reports to its owner. A request that fails is reported by onFailure;
// a request still open at onClose has an unknown outcome.

import type { Caller } from '@sluice/access/identity/callers/caller'
import type { KnownTool } from '@sluice/policy/calls/tools'
import type { JsonRpcMessage, ParsedMembers, RequestId } from '@sluice/protocol/message'
import type { GatewayErrorCode } from '../shared/errors.ts'
import type { MessageContext, TraceContext } from '../shared/transport.ts'

/** A request as it is sent, parsed: for upstreams that have to write it again. */
export interface OutboundRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: ParsedMembers | undefined
  readonly tool?: KnownTool | undefined
  /** Who sent it: some servers are shown a token of the caller's own. */
  readonly caller?: Caller | undefined
  /** The call, if one was admitted. */
  readonly callId?: string | undefined
}

export interface UpstreamSendOptions extends MessageContext {
  readonly trace?: TraceContext | undefined
  /** The request; undefined for notifications and answers. */
  readonly passing?: OutboundRequest
  /** It was refused once, and could not have had an effect: it is not sent a third time. */
  readonly isRepeated?: boolean
}

/** What a message to a server is authorised by: a token that is got, renewed and refused. */
export interface MessageCredential {
  /** The value of `Authorization`. */
  readonly header: string | undefined
  /** Why nothing may be sent. */
  readonly failure: CredentialFailure | undefined
  /** What to do if the server refuses the token. */
  readonly help: string
  /** The page where the person gives another one; undefined if there is none. */
  readonly connectAt?: string | undefined
  /** Returns undefined if the token can be used as it is, or none can be had now. */
  ready(): Promise<unknown> | undefined
  /** The server refused this header: true if there is another one to try. */
  refused(header: string | undefined): Promise<boolean>
  /** The server has taken a message with this header. */
  accepted(header: string | undefined): void
}

/** Why a request has no credential. */
export type CredentialFailure = Pick<
  UpstreamFailure,
  'code' | 'message' | 'detail' | 'help' | 'retryAfterMs'
>

export interface UpstreamFailure {
  readonly code: GatewayErrorCode
  /** What was wrong, in words, with the server's name. A caller may read it. */
  readonly message: string
  /** What the log and `sluice status` say in place of `message`, because it names a path of this machine. */
  readonly detail?: string
  readonly help?: string
  /** The request that will get no answer; undefined if it was no request. */
  readonly request: RequestId | undefined
  /** The request cannot have had an effect (no byte of it was written, or the server answered that
   * it does not know the session): sending it once more cannot do it twice. */
  readonly repeatable: boolean
  readonly status?: number
  /** It is temporary: the request may be made again after this time. */
  readonly retryAfterMs?: number
  /** The page where the person of the caller signs in at the server. */
  readonly connectAt?: string | undefined
  /** `WWW-Authenticate`, where a login is needed. */
  readonly challenge?: string
  /** The message that may be sent once more, as it was sent. */
  readonly unsent?: { readonly text: string; readonly carried: UpstreamSendOptions }
}

/** What an upstream reports. Its owner passes it when it connects, and nothing is reported before that
 * call returns. */
export interface UpstreamEvents {
  readonly onMessage: (message: JsonRpcMessage, related?: MessageContext) => void
  readonly onFailure: (failure: UpstreamFailure) => void
  /** The server ended the stream of a request before its answer; it is asked for the rest later. */
  readonly onSuspended?: (request: RequestId) => void
  /** Once, with the reason. */
  readonly onClose: (why: string) => void
}

export interface Upstream {
  /** Sends one message, given as text on one line. Returns false if the upstream is closed. */
  send(text: string, carried?: UpstreamSendOptions): boolean
  close(why: string): void
  /** Why the link closed by itself; set before onClose. */
  readonly failure: UpstreamFailure | undefined
  /** The receiver is slow: read no further, on all streams or (HTTP) on that of one request. */
  pause(request?: RequestId): void
  resume(request?: RequestId): void
  /** A pause for one request stops no other. */
  readonly pausesApart: boolean
  /** Nobody waits for this answer any more. HTTP ends the exchange; a process gets a notification. */
  abort(request: RequestId): void
  /** What it takes to resume this session over a new link; undefined if that is impossible:
   * the memory of a process is gone with it. */
  readonly handle: string | undefined
  /** A request has no answer yet. Undefined if the link does not say. */
  readonly isBusy?: boolean
  /** Ends the process behind the link until the next message; false if it is in use. */
  rest?(why: string): boolean
  /** When nothing of the server is left: no process, no connection. */
  readonly ended: Promise<void>
}
