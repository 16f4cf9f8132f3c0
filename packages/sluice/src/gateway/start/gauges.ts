// What can be seen of the gate at any moment: sessions, open requests, processes, the record, freezes
// and policies. Read when somebody asks for metrics, and never on the way of a call.

import type { ApprovalService } from '../../core/approval.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Gate } from '../gate.ts'
import type { Series } from '../metrics/meter.ts'
import type { Gauge } from '../metrics/write-metrics.ts'
import type { FreezeStore } from '../state/freezes.ts'
import type { Policies } from '../state/policies.ts'
import type { Servers } from '../state/servers.ts'

export interface GaugeParts {
  readonly servers: Servers
  readonly gate: Gate
  readonly ledger: Ledger
  readonly freezes: FreezeStore
  readonly approvals: Pick<ApprovalService, 'pendingCount'>
  readonly policies: Policies
  readonly processes: () => number
}

const LEDGER_STATES = ['writing', 'reserve', 'failing', 'closed'] as const

export function gaugesOf(parts: GaugeParts): Gauge[] {
  const { approvals, servers, gate, ledger, freezes, policies, processes } = parts
  const each = (read: (server: string) => number) => () =>
    servers.names.map((server) => ({ labels: { server }, value: read(server) }))
  const one = (read: () => number) => (): Series[] => [{ labels: {}, value: read() }]
  const gauge = (name: string, help: string, read: Gauge['read']): Gauge => ({
    name: `sluice_${name}`,
    help,
    read,
  })
  return [
    gauge(
      'sessions',
      'Sessions with a server.',
      each((name) => gate.figures(name).sessions),
    ),
    gauge(
      'open_requests',
      'Requests of clients that have no answer yet.',
      each((name) => gate.figures(name).openRequests),
    ),
    gauge('processes', 'Processes of servers that are watched.', one(processes)),
    gauge(
      'ledger_records',
      'Number of the last record.',
      one(() => ledger.figures.seq),
    ),
    gauge(
      'ledger_commits',
      'Commits since the start.',
      one(() => ledger.figures.commits),
    ),
    gauge(
      'ledger_open_calls',
      'Calls without an outcome.',
      one(() => ledger.figures.open),
    ),
    gauge(
      'ledger_kept_outcomes',
      'Outcomes that wait for the disk.',
      one(() => ledger.figures.kept),
    ),
    gauge('ledger_state', '1 for the state the record is in.', () =>
      LEDGER_STATES.map((state) => ({ labels: { state }, value: ledger.state === state ? 1 : 0 })),
    ),
    gauge(
      'frozen',
      'What is frozen.',
      one(() => freezes.list.length),
    ),
    gauge(
      'approvals_pending',
      'Calls that wait for a person.',
      one(() => approvals.pendingCount),
    ),
    gauge(
      'policy_waiting',
      '1 while a policy waits or is broken.',
      one(() => (policies.why === '' ? 0 : 1)),
    ),
  ]
}
