// A client's side of a conversation, and what it reports to the relay behind it. A transport only carries
// messages; the gate between client and server decides what passes.

import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { NotFound } from './error-reply.ts'
import type { ToolMode } from './tool-mode.ts'

/** Trace context (W3C): of a client's headers only this ever goes along. */
export interface TraceContext {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
}

/** What a message of a server's belongs to: the policy's labels are looked up by it. */
export interface MessageSource {
  readonly method: string
  readonly name: string
}

/** Which of the other side's requests a message belongs to, if that is known: on HTTP it decides
 * the stream a message goes out on. */
export interface MessageContext {
  readonly request?: RequestId
  /** The message is the answer to that request. */
  readonly answers?: boolean
  /** The answer is this error: HTTP has a status for some. */
  readonly errorCode?: number | undefined
  /** The answer says that this was not found, and nothing else: it can be given again under another name. */
  readonly notFound?: NotFound | undefined
  /** The answer describes a server or its tools; anything else is inspected more strictly. */
  readonly isDefinition?: boolean | undefined
  /** The policy's rules for answers were applied to it. */
  readonly isFiltered?: boolean | undefined
  /** The labels that a long message was already looked through for. */
  readonly inspected?: readonly string[] | undefined
  /** Whose words it has. `server`, also if absent: it counts as said for any call of the server. */
  readonly from?: 'gate' | 'server' | MessageSource | undefined
  /** `Mcp-Param-*` that came with a client's request; undefined if there are no headers. */
  readonly headers?: ReadonlyMap<string, string>
  /** The trace that a client's request belongs to, by its headers. */
  readonly trace?: TraceContext | undefined
  /** The client's program that makes the call. */
  readonly program?: ProgramOrigin | undefined
}

/** What a client's transport reports. It gets them from the function that connects it to the gate, which it
 * calls when it is made; before that returns, nothing is reported. */
export interface ClientEvents {
  readonly onMessage: (message: JsonRpcMessage, related?: MessageContext) => void
  /** Once, with the reason. */
  readonly onClose: (why: string) => void
  /** Back-pressure: the client does not read the messages of a request (or, with one stream for all, any
   * message), or has read them. */
  readonly onPressure: (isFull: boolean, request: RequestId | undefined) => void
}

/** Of a transport that is not connected. */
export const NO_CLIENT_EVENTS: ClientEvents = { onMessage() {}, onClose() {}, onPressure() {} }

/** What a client behind a pipe has handed over. It is kept in memory for its connection and nowhere else. */
export interface ClientEnvironment {
  readonly variables: Readonly<Record<string, string>>
  /** False if the client is of another user: only what the configuration lists is taken. */
  readonly isWhole: boolean
}

/** How a client's connection came about. */
export interface ConnectionOrigin {
  /** Names its session among those of the principal; undefined: their common one. */
  readonly sessionKey?: string | undefined
  /** Goes on with a session of the server from before a restart of the gate. */
  readonly handle?: string | undefined
  /** What the client has handed over for the servers' processes. */
  readonly environment?: ClientEnvironment | undefined
  /** Which view of the tools of all servers it asked for. */
  readonly mode?: ToolMode | undefined
}

/** Sends a message to a client. What is around it has the tokens of the gate removed and the labels added
 * that the message brings. */
export type ClientSend = (text: string, related?: MessageContext) => boolean

/** Why sessions end with their gate. A call that it cut says so with a code. */
export const GATE_STOPPING = 'the gate is stopping'

/** Why a session ends at the gate that had it, and goes on at the other one: also at its server. */
export const SESSION_TAKEN = 'another gate has taken the session over'

/** The last line to a pipe but answers: the gate is stopping, and requests are for the next one. A client that got
 * it would ignore it. */
export const PIPE_STOPPING = '{"jsonrpc":"2.0","method":"notifications/sluice/stopping"}'

/** In place of a server's name: all of them. */
export const ALL_SERVERS = '*'

/** A client's side. */
export interface ClientTransport {
  /** Sends one message, given as text on one line. Returns false if the transport is closed. */
  send(text: string, related?: MessageContext): boolean
  close(why: string): void
  readonly generation: ProtocolGeneration
  /** The revision that `initialize` settled; empty until then. */
  revision: string
  /** This request will get no answer: it was cancelled. */
  drop(request: RequestId): void
  /** This request waits for a person, which may take long. */
  noteHeld?(request: RequestId): void
  /** The server ended the stream of this request before its answer, and goes on with it later: a client
   * that knows of that need not be kept waiting on its own. */
  suspend?(request: RequestId): void
  /** What it listed of the server no longer holds: the server has said so, or the gate changed what this caller may
   * see. Beside the notification, which reaches a client only if it may be sent one. */
  listsChanged?(): void
  /** The session has begun; with what it takes to go on with it after a restart of the gate, where
   * its server can. */
  begun?(handle: string | undefined): void
  /** Nobody waits for an answer, and nobody listens; undefined if that is never so. */
  readonly isIdle?: boolean
  /** Where room is short, the session with the lowest number ends; undefined: this one must not. */
  readonly spare: number | undefined
}

/** A client's side for those who send through a `ClientSend` only. */
export type ClientEnd = Omit<ClientTransport, 'send'>
