// What a running gate says of itself: `sluice status`, `sluice status --metrics` and `sluice gates`; and its
// end, `sluice stop`.

import { OperationError } from '@sluice/policy/core/operation-error'
import { readPackageVersion } from '../shared/package-version.ts'
import type { CommandParts } from '../start/run-admin.ts'
import type { ServerFailure } from '../tools/server-notes.ts'
import { listFreezes } from './freeze.ts'
import { commandOperation, type Operation } from './operation.ts'
import { listPeople } from './people.ts'
import { toSessionView } from './sessions.ts'

export type GateStatus = ReturnType<typeof describeGate>

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

function describeGate(parts: CommandParts) {
  const { config, gate, ledger, policies, ready, url, isPiped } = parts
  const { ok, why } = ready()
  const { commits, seq, open, kept } = ledger.figures
  return {
    running: true as const,
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
    policy: { ...policies.describe(), isFirstPolicy: policies.isFirst },
    frozen: listFreezes(parts),
    waiting: parts.approvals.pendingCount,
    held: parts.pins.held.filter(({ refused }) => refused === undefined).length,
    ...listPeople(parts),
    servers: parts.servers.entries.map(([name, config]) => ({
      name,
      kind: config.kind,
      sandbox: parts.isolation.describe(config),
      credential: parts.credentials.describe(name, config),
      refusedHosts: parts.isolation.refusedBy(name),
      ...gate.figures(name),
      ...failureOf(gate.notes.failureOf(name)),
      ...leftOutOf(gate.notes.limitMetBy(name)),
      ...unservedOf(gate.notes.unservedBy(name)),
    })),
    sessions: gate.sessions.list().map(toSessionView),
    pendingServers: parts.servers.pending.map(({ name, how }) => ({ name, how })),
    ledger: { state: ledger.state, records: seq, commits, open, kept },
  }
}

/** Why a server does not answer; for a missing login, with the command that does it. */
function failureOf(failure: ServerFailure | undefined) {
  if (failure === undefined) return {}
  const { code, message, help } = failure
  const fails = [message, help].filter(Boolean).join(': ')
  return { code, fails }
}

function leftOutOf(why: string | undefined) {
  return why === undefined ? {} : { leftOut: why }
}

function unservedOf(extensions: readonly string[]) {
  return extensions.length === 0 ? {} : { unserved: [...extensions] }
}
