// What can be seen of the gate at any moment: sessions, open requests, processes, the record, freezes
// and policies. Read when somebody asks for metrics, and never on the way of a call.

import type { ApprovalService } from '@sluice/access/approvals/approval'
import type { Series } from '../metrics/meter.ts'
import type { Gauge } from '../metrics/write-metrics.ts'
import type { AdminParts } from './run-admin.ts'

export interface GaugeParts
  extends Pick<AdminParts, 'servers' | 'gate' | 'ledger' | 'freezes' | 'policies'> {
  readonly approvals: Pick<ApprovalService, 'pendingCount'>
  readonly processes: () => number
  /** Says whether the gate is ready, as `/readyz` does. */
  readonly isReady: () => boolean
}

const LEDGER_STATES = ['writing', 'reserve', 'failing', 'closed'] as const

export function gaugesOf(parts: GaugeParts): Gauge[] {
  const { approvals, servers, gate, isReady, ledger, freezes, policies, processes } = parts
  const ofServers: GaugeRows<(server: string) => number> = {
    sessions: ['Sessions with a server.', (name) => gate.figures(name).sessions],
    open_requests: [
      'Requests of clients that have no answer yet.',
      (name) => gate.figures(name).openRequests,
    ],
  }
  const ofGate: GaugeRows<() => number> = {
    ready: ['1 while calls can be recorded, as /readyz says.', () => (isReady() ? 1 : 0)],
    processes: ['Processes of servers that are watched.', processes],
    ledger_records: ['Number of the last record.', () => ledger.figures.seq],
    ledger_commits: ['Commits since the start.', () => ledger.figures.commits],
    ledger_open_calls: ['Calls without an outcome.', () => ledger.figures.open],
    ledger_kept_outcomes: ['Outcomes that wait for the disk.', () => ledger.figures.kept],
    frozen: ['What is frozen.', () => freezes.list.length],
    approvals_pending: ['Calls that wait for a person.', () => approvals.pendingCount],
    policy_waiting: ['1 while a policy waits or is broken.', () => (policies.why === '' ? 0 : 1)],
  }
  const states = (): Series[] =>
    LEDGER_STATES.map((state) => ({ labels: { state }, value: ledger.state === state ? 1 : 0 }))
  return [
    ...toGauges(ofServers, (read) =>
      servers.names.map((server) => ({ labels: { server }, value: read(server) })),
    ),
    ...toGauges(ofGate, (read) => [{ labels: {}, value: read() }]),
    { name: 'sluice_ledger_state', help: '1 for the state the record is in.', read: states },
  ]
}

/** Describes gauges by their names without `sluice_`: the help, and what reads the value. */
type GaugeRows<Read> = Readonly<Record<string, readonly [help: string, read: Read]>>

function toGauges<Read>(rows: GaugeRows<Read>, toSeries: (read: Read) => Series[]): Gauge[] {
  return Object.entries(rows).map(([name, [help, read]]) => ({
    name: `sluice_${name}`,
    help,
    read: () => toSeries(read),
  }))
}
