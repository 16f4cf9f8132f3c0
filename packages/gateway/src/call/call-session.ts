// What the steps of the call path know of a session with one server: the pipeline, who calls, what the
// gate remembers of this client with this server, and what is in flight between them. Made by the relay.

import type { SessionVault } from '@sluice/access/identity/sessions/session-vault'
import type { SessionCheck } from '@sluice/ledger/store/admission'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { Decimal } from '@sluice/policy/values/decimal'
import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { ClientElicitations } from '../session/client-elicitations.ts'
import type { ClientRoots } from '../session/client-roots.ts'
import type { KnownNames } from '../session/known-names.ts'
import type { SealedHandles } from '../session/sealed-handles.ts'
import type { SessionTasks } from '../session/session-tasks.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import type { ClientEnd, ClientSend, MessageContext } from '../shared/transport.ts'
import type { Freeze } from '../state/freezes.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Admission, CallPipeline } from './call-request.ts'
import type { ClientApprovalPrompts } from './client-prompts.ts'
import type { AnswerFilter } from './filter-answers.ts'
import type { InspectAhead } from './inspect-answers.ts'
import type { PendingRequest, PendingRequests, SentRequest } from './pending-requests.ts'

/** What the gate tells the call path about a session. */
export interface CallContext {
  readonly pipeline: CallPipeline
  readonly server: string
  /** Who calls, and in which session; looked up again for every call, which a client's program may make. */
  readonly facts: (program?: ProgramOrigin) => Omit<Facts, 'tool'>
  /** Returns the versions of the shared session by which calls are decided. */
  readonly sessionChecks?: () => readonly SessionCheck[] | undefined
  /** Returns the freeze that applies to this session. */
  readonly frozen: () => Freeze | undefined
  /** Whether denials show this caller the rule and what is left. */
  readonly explain: () => boolean
  readonly handles: SealedHandles
  /** A call of the client's was decided; and one was admitted. */
  readonly onAsked: () => void
  readonly onCall: (call: Call, price: Decimal | undefined) => void
  /** The client says what the user asked for. */
  readonly onPrompt: (text: string) => void
  /** The policy's rules for what comes back, and values that the agent may not see. */
  readonly answers: AnswerFilter
  readonly vault: () => SessionVault
  /** Looks through a long message before it is sent; returns the labels it looked for. */
  readonly inspectAhead: InspectAhead
  /** A server introduces itself: the part of that which a client may see. */
  readonly onHello: (result: string) => string
  /** The outcome of a call; undoes its charges if no byte of it was sent. */
  readonly record: (admission: Admission, startedMs: number, outcome: CallOutcome) => void
  readonly log: (text: string) => void
}

export interface CallSession extends CallContext {
  readonly generation: ProtocolGeneration
  readonly lists: VisibleLists
  readonly names: KnownNames
  readonly tasks: SessionTasks
  readonly roots: ClientRoots
  /** The questions that the gate itself asks a client that has a session. */
  readonly questions: ClientElicitations
  readonly prompts: ClientApprovalPrompts
  readonly client: ClientEnd
  /** The one way to send something to the client. */
  readonly send: ClientSend
  readonly upstream: Pick<Upstream, 'abort' | 'handle'>
  /** Requests of the client's, and requests of the server's. */
  readonly down: PendingRequests
  readonly up: PendingRequests
  /** This request was forwarded and gets no answer: its server may still have something to say of it. */
  readonly abandon: (sent: SentRequest) => void
  readonly close: (why: string) => void
}

/** A request of one side, as it was received. */
export interface IncomingRequest {
  readonly sender: 'client' | 'server'
  readonly message: JsonRpcRequest
  /** The context that arrived with the message. */
  readonly related: MessageContext
  readonly session: CallSession
}

/** One request on its way, with the session it belongs to. */
export interface Exchange {
  readonly sender: 'client' | 'server'
  /** The open requests of the same sender. */
  readonly requests: PendingRequests
  readonly pending: PendingRequest
  readonly session: CallSession
}
