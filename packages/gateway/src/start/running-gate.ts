// What a gate is started with, and what is left to do with it once it runs. The composition root hands in
// the parts that the gateway does not import: agents, the admin API, operations.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import type { AdminSite } from '../front/http/site.ts'
import type { TlsCertificate } from '../front/http/tls-certificate.ts'
import type { CommandRegistry } from '../front/socket/command-registry.ts'
import type { Gate } from '../gate.ts'
import type { Log } from '../shared/log.ts'
import type { ParseConfig } from './open-servers.ts'
import type { CommandParts, StartAdmin } from './run-admin.ts'
import type { StartAgents } from './run-agents.ts'

export interface RunningGate {
  /** The address at which clients reach the gate over HTTP; the socket if it serves pipes only. */
  readonly url: string
  /** Resolves if it was started for pipes and the last has been gone for a while. */
  readonly idle: Promise<string>
  /** Pending approvals, for the parts that show them to people. */
  readonly approvals: ApprovalService
  /** Lets open calls finish within `stop_within`, then ends everything. */
  stop(): Promise<void>
  /** Makes `stop` wait for no call any more: what is open is answered and recorded as cut. */
  cut(): void
}

/** The parts that exist only after later steps of the start. */
export interface LateParts {
  gate?: Gate
  site?: AdminSite | undefined
  tls?: TlsCertificate | undefined
  /** The address at which clients reach the gate; empty until it serves. */
  url: string
}

export interface RunOptions {
  readonly piped: boolean
  /** The operations of the control socket, handed in by the composition root. */
  readonly control: (parts: CommandParts) => CommandRegistry
  readonly log: Log
  /** Starts the agents, if there is a server with `builtin: agents`. */
  readonly startAgents?: StartAgents
  /** Serves the admin API and the console. */
  readonly startAdmin?: StartAdmin
  /** sluice.yaml from its text, as at the start; throws. Without it servers stay as they are. */
  readonly parseConfig?: ParseConfig
}
