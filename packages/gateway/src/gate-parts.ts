// What a gate is made of: put together by start/run-gate.ts.

import type { ApprovalEngine } from '@sluice/access/approvals/engine'
import type { HandleSealer } from '@sluice/access/identity/keys/handle-sealer'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import type { SharedSessions } from '@sluice/access/identity/sessions/shared-sessions'
import type { AnswerFinding } from '@sluice/guard/inspect-answer'
import type { Ledger } from '@sluice/ledger/ledger'
import type { DecisionEntry } from '@sluice/ledger/records/record'
import type { AdmissionStore } from '@sluice/ledger/store/admission'
import type { TraceParts } from './call/call-request.ts'
import type { GateConfig } from './config/config.ts'
import type { CallInstrumentation } from './metrics/instrument-calls.ts'
import type { Log } from './shared/log.ts'
import type { OutageLog } from './shared/outage-log.ts'
import type { ClientSend, ClientTransport, ConnectionOrigin } from './shared/transport.ts'
import type { FreezeStore } from './state/freezes.ts'
import type { PolicySet } from './state/policy-set.ts'
import type { Servers } from './state/servers.ts'
import type { Views } from './state/views.ts'
import type { Pins } from './tools/pins.ts'
import type { ServerNotes } from './tools/server-notes.ts'
import type { StoredTools } from './tools/stored-tools.ts'
import type { ServerLinksParts } from './upstream/servers/upstream-connector.ts'

export interface GateParts extends Omit<ServerLinksParts, 'serverOf'>, TraceParts {
  readonly config: GateConfig
  readonly policies: () => PolicySet
  readonly sessions: AgentSessions
  /** Undefined if they are those of this gate alone. */
  readonly sharedSessions?: SharedSessions | undefined
  readonly seals: HandleSealer
  readonly ledger: Ledger
  readonly freezes: FreezeStore
  readonly tools: StoredTools
  readonly notes: ServerNotes
  readonly watch: CallInstrumentation
  readonly pins: Pins
  readonly approvals: ApprovalEngine
  readonly admission: AdmissionStore<DecisionEntry>
  /** Where a person decides over a request; undefined while no page is served. */
  readonly approvalUrl: (id: string) => string | undefined
  /** The gate's own files, which no argument may name, and where a server would look for them. */
  readonly ownPaths: readonly string[]
  readonly servers: Servers
  readonly views: Views
  readonly log: Log
  readonly outages: OutageLog
}

/** A client as the relay with one server sees it. */
export interface RelayedClient extends Pick<ConnectionOrigin, 'environment' | 'handle'> {
  /** The session's own link, or one that stands for it towards one of its servers. */
  readonly link: ClientTransport
  readonly send: ClientSend
  readonly onEnd: () => void
}

/** A session, and the server whose answer had an order to the model in it. */
export interface InjectedSession {
  readonly server: string
  readonly principal: string
  readonly session: string
  /** That was called, if it is known. */
  readonly tool: string | undefined
  readonly found: AnswerFinding
}
