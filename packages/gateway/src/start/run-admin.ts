// The admin API and the console, as far as the gate knows them: what serves them is handed in by the
// composition root, gets the parts of the running gate, and answers every request that is not MCP.

import type { Socket } from 'node:net'
import type { DatabaseSync } from 'node:sqlite'
import type { ApprovalService } from '@sluice/access/approvals/approval'
import type { Authenticator } from '@sluice/access/identity/callers/authenticator'
import type { Grants } from '@sluice/access/identity/callers/grants'
import type { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import type { Logins } from '@sluice/access/identity/oauth/logins'
import type { People } from '@sluice/access/identity/people/people'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import type { Names } from '@sluice/ledger/records/names'
import type { Alerts } from '../alerts/alerts.ts'
import type { LimitsInUse } from '../alerts/limits-in-use.ts'
import type { LedgerVerification } from '../data/ledger-verification.ts'
import type { AdminSite } from '../front/http/site.ts'
import type { CommandHandler } from '../front/socket/command-registry.ts'
import type { Gate } from '../gate.ts'
import type { GateParts } from '../gate-parts.ts'
import type { Boxes } from '../isolation/boxes.ts'
import type { Isolation } from '../isolation/isolation.ts'
import type { Snapshots } from '../isolation/snapshots.ts'
import type { CallInstrumentation } from '../metrics/instrument-calls.ts'
import type { Meter } from '../metrics/meter.ts'
import type { MetricsWriter } from '../metrics/write-metrics.ts'
import type { CallRecorder } from '../recordings/call-recorder.ts'
import type { Policies } from '../state/policies.ts'
import type { ActiveLockFile } from '../tools/active-lock-file.ts'
import type { NewTools } from '../tools/new-tools.ts'
import type { StoredTools } from '../tools/stored-tools.ts'
import type { Credentials } from '../upstream/servers/credentials.ts'
import type { ParseConfig } from './open-servers.ts'
import type { SharedStore } from './open-shared-store.ts'

/** The gates that share a store, for operations. */
export type ClusterOperations = Pick<
  SharedStore,
  'state' | 'directory' | 'key' | 'alerts' | 'fault'
>

/** Holds what operations on a running gate need, by command or over `/api`. */
interface OperatedParts
  extends Pick<GateParts, 'config' | 'servers' | 'ledger' | 'freezes' | 'pins' | 'log'> {
  readonly gate: Gate
  readonly isolation: Isolation
  readonly boxes: Boxes
  readonly snapshots: Snapshots
  readonly credentials: Credentials
  readonly parseConfig: ParseConfig | undefined
  readonly people: People
  readonly grants: Grants
  /** The names of callers and people, which records have tokens for. */
  readonly names: Names
  readonly sessions: AgentSessions
  /** The gate's own tables: gate.db. */
  readonly store: DatabaseSync
  readonly policies: Policies
  /** The cluster; undefined if this gate shares no store. */
  readonly cluster?: ClusterOperations | undefined
  /** Returns the address at which clients reach the gate; empty until it serves. */
  readonly url: () => string
  /** Clients started it: it is reached by them over its socket, and by people on loopback only. */
  readonly isPiped: boolean
}

export interface AdminParts extends OperatedParts {
  readonly authenticator: Authenticator
  /** The logins of callers at servers. */
  readonly logins: Logins
  readonly key: InstallationKey
  readonly meter: Meter
  readonly watch: CallInstrumentation
  readonly tools: StoredTools
  readonly newTools: NewTools
  readonly limits: LimitsInUse
  readonly alerts: Alerts
  readonly verification: LedgerVerification
  /** The approvals; undefined while no call can be held. */
  readonly approvals: ApprovalService | undefined
  /** The words of the control channel that need no proof here, such as `status`. */
  readonly control: (
    word: string,
    request: Parameters<CommandHandler>[0],
  ) => ReturnType<CommandHandler>
  /** Whether another user than the gate's is at the other end of a connection over loopback. */
  readonly isOtherUser: (socket: Socket) => Promise<boolean>
  /** Looks at the policy files at once. */
  readonly reload: () => void
  /** Returns the address of the console; a gate that clients started begins to serve it. */
  readonly openPage: () => Promise<string | undefined>
}

export type StartAdmin = (parts: AdminParts) => AdminSite

export interface CommandParts extends OperatedParts {
  readonly metrics: MetricsWriter
  readonly lock: ActiveLockFile
  readonly approvals: ApprovalService
  readonly authenticator: Pick<Authenticator, 'grantsChanged' | 'callerOf'>
  readonly recorder: CallRecorder
  /** Returns the commands of the admin API, once it is open. */
  readonly words: () => Readonly<Record<string, CommandHandler>>
  /** Looks at the policy files at once. */
  readonly reload: () => void | Promise<void>
  /** Returns what `/readyz` answers. */
  readonly ready: () => { readonly ok: boolean; readonly why: string }
  /** Returns the address of the console; undefined while it is not served. */
  readonly page: () => string | undefined
  /** Ends the gate as a signal does. */
  readonly stop: (why: string) => void
}
