// What a running gate says of itself: `sluice status`, `sluice status --metrics` and `sluice gates`; and its
// end, `sluice stop`.

import type { ShapeValue, TypedShape } from '@sluice/policy/document/shape'
import {
  ANY,
  COUNT,
  FLAG,
  fieldsOf,
  listOf,
  objectOf,
  orNull,
  TEXT,
} from '../core/answer-shapes.ts'
import { OperationError } from '../core/operation-error.ts'
import { PERSON_VIEW } from '../core/person.ts'
import { readPackageVersion } from '../gateway/shared/package-version.ts'
import type { CommandParts } from '../gateway/start/run-admin.ts'
import type { ServerFailure } from '../gateway/tools/server-notes.ts'
import type { ListedGate } from '../store/postgres/gate-directory.ts'
import { FREEZE_VIEW, listFreezes } from './freeze.ts'
import { type Operation, operation } from './operation.ts'
import { listPeople } from './people.ts'
import { SESSION, toSessionView } from './sessions.ts'

const SERVER = fieldsOf(
  { name: TEXT, kind: TEXT, sessions: COUNT, openRequests: COUNT },
  { code: TEXT, fails: TEXT, leftOut: TEXT },
)
const POLICY = fieldsOf({
  documents: listOf(fieldsOf({ name: TEXT, file: TEXT, digest: TEXT, house: FLAG })),
  waiting: ANY,
  loosens: ANY,
  tightens: listOf(TEXT),
  broken: orNull(TEXT),
  isFirstPolicy: FLAG,
})
const GATE = fieldsOf({
  running: FLAG as typeof FLAG & TypedShape<true>,
  pid: COUNT,
  version: TEXT,
  upSeconds: COUNT,
  url: TEXT,
  page: orNull(TEXT),
  isPiped: FLAG,
  data: TEXT,
  ready: FLAG,
  observed: listOf(TEXT),
  why: TEXT,
  policy: POLICY,
  frozen: listOf(FREEZE_VIEW),
  waiting: COUNT,
  held: COUNT,
  people: listOf(PERSON_VIEW),
  anybody: FLAG,
  servers: listOf(SERVER),
  sessions: listOf(SESSION),
  pendingServers: listOf(fieldsOf({ name: TEXT, how: TEXT })),
  ledger: fieldsOf({ state: TEXT, records: COUNT, commits: COUNT, open: COUNT, kept: COUNT }),
})
export type GateStatus = ShapeValue<typeof GATE>

export const SHOW_STATUS = operation({
  name: 'status',
  summary: 'show the state of the gate',
  role: 'viewer',
  proof: 'none',
  socket: 'status',
  command: 'status',
  needsGate: true,
  input: {},
  output: GATE,
  run: ({ running }) => describeGate(running),
})

export const WRITE_METRICS = operation({
  name: 'metrics',
  summary: 'the figures of the gate, in the format of Prometheus',
  role: 'viewer',
  proof: 'none',
  socket: 'metrics',
  command: 'status --metrics',
  needsGate: true,
  input: {},
  output: fieldsOf({ text: TEXT }),
  run: async ({ running }) => ({ text: (await running.metrics.write()).text }),
})

export const STOP_GATE = operation({
  name: 'stop',
  summary: 'end the gate: open calls are answered first',
  role: 'viewer',
  // A user who can reach the socket can end the process, too; a stopped gate lets nothing pass.
  proof: 'none',
  socket: 'stop',
  command: 'stop',
  needsGate: true,
  input: {},
  output: fieldsOf({ pid: COUNT, url: TEXT, isPiped: FLAG, sessions: listOf(SESSION) }),
  run: ({ running }) => {
    const { pid, url, isPiped, sessions } = describeGate(running)
    setImmediate(() => running.stop('sluice stop'))
    return { pid, url, isPiped, sessions }
  },
})

/** `sluice gates`: the gates that share a store with this one. */
export const LIST_GATES = operation({
  name: 'gates',
  summary: 'the gates that share a store with this one',
  role: 'viewer',
  proof: 'none',
  socket: 'gates',
  command: 'gates',
  needsGate: true,
  input: {},
  output: fieldsOf({ self: TEXT, gates: listOf(objectOf<ListedGate>()) }),
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
    policy: { ...policies.describe(), isFirstPolicy: policies.isFirst },
    frozen: listFreezes(parts),
    waiting: parts.approvals.pendingCount,
    held: parts.pins.held.filter(({ refused }) => refused === undefined).length,
    ...listPeople(parts),
    servers: parts.servers.entries.map(([name, { kind }]) => ({
      name,
      kind,
      ...gate.figures(name),
      ...failureOf(gate.notes.failureOf(name)),
      ...leftOutOf(gate.notes.limitMetBy(name)),
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
