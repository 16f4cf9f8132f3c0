// What a running gate says of itself: `sluice status`, `sluice status --metrics` and `sluice gates`; and its
// end, `sluice stop`.

import type { PeopleList } from '@sluice/access/identity/person'
import type { LedgerState } from '@sluice/ledger/ledger'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { boxSettingsOf } from '../config/builtin-tools.ts'
import type { ServerConfig } from '../config/config.ts'
import type { BoxState } from '../isolation/boxes.ts'
import { readPackageVersion } from '../shared/package-version.ts'
import type { CommandParts } from '../start/run-admin.ts'
import type { PolicyDescription } from '../state/policies.ts'
import type { PendingServer } from '../state/servers.ts'
import type { ServerFailure } from '../tools/server-notes.ts'
import { type FreezeView, listFreezes } from './freeze.ts'
import { commandOperation, type Operation } from './operation.ts'
import { listPeople } from './people.ts'
import { type ListedSession, toSessionView } from './sessions.ts'

/** What `sluice status --json` prints of a running gate. */
export interface GateStatus extends PeopleList {
  readonly running: true
  readonly pid: number
  /** Version of the program. */
  readonly version: string
  readonly upSeconds: number
  /** Address of the HTTP front. */
  readonly url: string
  /** Address of the console; null if it is not served. */
  readonly page: string | null
  /** A client has started the gate and talks to it over its standard input. */
  readonly isPiped: boolean
  /** The data directory. */
  readonly data: string
  /** What `/readyz` answers. */
  readonly ready: boolean
  /** Names of the policy documents that only observe. */
  readonly observed: readonly string[]
  /** Why the gate is not ready; empty if it is. */
  readonly why: string
  /** Why servers cannot be isolated; empty if they can. */
  readonly unconfined: string
  readonly policy: PolicyStatus
  readonly frozen: readonly FreezeView[]
  /** How many calls wait for a person. */
  readonly waiting: number
  /** How many definitions of tools are pending review. */
  readonly held: number
  readonly servers: readonly ServerStatus[]
  readonly sessions: readonly ListedSession[]
  /** Servers of sluice.yaml that wait for a person. */
  readonly pendingServers: readonly Pick<PendingServer, 'name' | 'how' | 'help'>[]
  readonly ledger: LedgerStatus
  /** The boxes of coding sessions that run. */
  readonly boxes: readonly BoxState[]
  /** Why lines run unconfined although a client has a `sandbox`; empty if none do. */
  readonly unboxed: string
}

export interface PolicyStatus extends PolicyDescription {
  /** No policy has been in force before. */
  readonly isFirstPolicy: boolean
}

/** What is known of a server that works or not. */
export interface ServerFacts {
  readonly name: string
  readonly kind: ServerConfig['kind']
  /** What the process may do; empty for a server that is no process. */
  readonly sandbox: string
  /** Which token it is called with, until when, and the last refusal; empty if it needs none. */
  readonly credential: string
  /** Hosts that the isolated process was not let to. */
  readonly refusedHosts: readonly string[]
  readonly sessions: number
  readonly openRequests: number
}

export interface ServerStatus extends ServerFacts, ServerFault {
  /** What a limit left out of its lists. Absent if nothing was. */
  readonly leftOut?: string
  /** Extensions of the protocol that the server has and the gate does not pass on. Absent if there are none. */
  readonly unserved?: readonly string[]
}

/** Why a server does not answer; both members are absent if it does. */
interface ServerFault {
  readonly code?: string
  /** The reason; for a missing login with the command that does it. */
  readonly fails?: string
}

export interface LedgerStatus {
  readonly state: LedgerState
  /** Number of the last record. */
  readonly records: number
  /** Commits since the start. */
  readonly commits: number
  /** Calls without an outcome. */
  readonly open: number
  /** Records that are not durable yet. */
  readonly kept: number
}

export const SHOW_STATUS = commandOperation({
  name: 'status',
  summary: 'show the state of the gate',
  role: 'viewer',
  proof: 'none',
  socket: 'status',
  needsGate: true,
  input: {},
  run: ({ running }) => describeGate(running),
})

export const WRITE_METRICS = commandOperation({
  name: 'metrics',
  summary: 'the figures of the gate, in the format of Prometheus',
  role: 'viewer',
  proof: 'none',
  socket: 'metrics',
  command: 'status --metrics',
  needsGate: true,
  input: {},
  run: async ({ running }) => ({ text: (await running.metrics.write()).text }),
})

export const STOP_GATE = commandOperation({
  name: 'stop',
  summary: 'end the gate: open calls are answered first',
  role: 'viewer',
  // A user who can reach the socket can end the process, too; a stopped gate lets nothing pass.
  proof: 'none',
  socket: 'stop',
  needsGate: true,
  input: {},
  run: ({ running }) => {
    const { pid, url, isPiped, sessions } = describeGate(running)
    setImmediate(() => running.stop('sluice stop'))
    return { pid, url, isPiped, sessions }
  },
})

/** `sluice gates`: the gates that share a store with this one. */
export const LIST_GATES = commandOperation({
  name: 'gates',
  summary: 'the gates that share a store with this one',
  role: 'viewer',
  proof: 'none',
  socket: 'gates',
  needsGate: true,
  input: {},
  run: async ({ running: { cluster, config } }) => {
    if (cluster === undefined)
      throw new OperationError('this gate shares no store', 'add `store: postgres://…`')
    return { self: config.cluster?.name ?? '', gates: await cluster.directory.list() }
  },
})

export const STATUS_OPERATIONS: readonly Operation[] = [
  SHOW_STATUS,
  WRITE_METRICS,
  STOP_GATE,
  LIST_GATES,
]

function describeGate(parts: CommandParts): GateStatus {
  const { config, gate, ledger, policies, ready, url, isPiped } = parts
  const { ok, why } = ready()
  const { commits, seq, open, kept } = ledger.figures
  return {
    running: true,
    pid: process.pid,
    version: readPackageVersion(),
    upSeconds: Math.round(process.uptime()),
    url: url(),
    page: parts.page() ?? null,
    isPiped,
    data: config.data,
    ready: ok,
    observed: policies.now.all.flatMap(({ name, shadow }) => (shadow ? [name] : [])),
    why,
    unconfined: parts.isolation.why ?? '',
    ...describeBoxes(parts),
    policy: { ...policies.describe(), isFirstPolicy: policies.isFirst },
    frozen: listFreezes(parts),
    waiting: parts.approvals.pendingCount,
    held: parts.pins.pending.filter(({ refused }) => refused === undefined).length,
    ...listPeople(parts),
    servers: parts.servers.entries.map(([name, config]) => ({
      name,
      kind: config.kind,
      sandbox: parts.isolation.describe(config),
      credential: parts.credentials.describe(name, config),
      refusedHosts: [...parts.isolation.refusedBy(name), ...refusedByBoxes(parts, name)],
      ...gate.figures(name),
      ...failureOf(gate.notes.failureOf(name)),
      ...pickDefined({
        leftOut: gate.notes.limitMetBy(name),
        unserved: unservedOf(gate.notes.unservedBy(name)),
      }),
    })),
    sessions: gate.sessions.list().map(toSessionView),
    pendingServers: parts.servers.pending.map(({ name, how, help }) => ({ name, how, help })),
    ledger: { state: ledger.state, records: seq, commits, open, kept },
  }
}

/** The boxes that run, and why lines run unconfined although a client has a `sandbox`. */
function describeBoxes({ boxes, servers }: CommandParts): Pick<GateStatus, 'boxes' | 'unboxed'> {
  const { available } = boxes
  const isWanted = servers.entries.some(([, config]) => boxSettingsOf(config) !== undefined)
  return {
    boxes: boxes.list().map((box) => ({ ...box, refusedHosts: [...box.refusedHosts] })),
    unboxed: isWanted && !available.ok ? `${available.reason}: ${available.help}` : '',
  }
}

function refusedByBoxes({ boxes }: CommandParts, client: string): string[] {
  const own = boxes.list().filter((box) => box.client === client)
  return [...new Set(own.flatMap(({ refusedHosts }) => refusedHosts))]
}

function failureOf(failure: ServerFailure | undefined): ServerFault {
  if (failure === undefined) return {}
  const { code, message, help } = failure
  const fails = [message, help].filter(Boolean).join(': ')
  return { code, fails }
}

function unservedOf(extensions: readonly string[]): string[] | undefined {
  return extensions.length === 0 ? undefined : [...extensions]
}
