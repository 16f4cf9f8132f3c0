// What `sluice doctor` says of the hooks of clients: whether they ask this gate, whether the client can read
// them, and when the last call came, because hooks that look right may never run.

import { boxSettingsOf } from '@sluice/gateway/config/builtin-tools'
import type { GateConfig } from '@sluice/gateway/config/config'
import { CODING_CLIENTS } from '@sluice/gateway/hooks/clients/table'
import { queryLedger } from '@sluice/ledger/query/query'
import { attempt } from '@sluice/policy/structures/attempt'
import { listHookWarnings } from '../init/hook-state.ts'
import { asksGateAt, type HooksReport, inspectHooks } from '../init/hooks.ts'
import { withIndex, withLedger } from '../ledger/source.ts'
import { plural } from '../terminal/output.ts'
import type { AddFinding } from './doctor-checks.ts'

interface CheckedGate {
  readonly data: string
  readonly servers: GateConfig['servers']
  /** The addresses of this gate: the configured one, and that of the process that runs. */
  readonly urls: readonly string[]
}

export function checkHooks(gate: CheckedGate, add: AddFinding): void {
  const reports = inspectHooks()
  for (const report of reports) checkHook(report, gate, add)
  for (const warning of listTwice(reports)) add('warn', ...warning)
}

/** Hooks by which each call would be decided twice, with what to do. */
function listTwice(reports: readonly HooksReport[]): [message: string, help: string][] {
  const asking = reports.filter(({ asks }) => asks !== undefined)
  const inOneFile = asking.filter(({ asks }) => (asks?.beforeCount ?? 0) > 1)
  const runBoth = asking.flatMap(({ client }) =>
    asking
      .filter((other) => CODING_CLIENTS[client].settings.runsHooksOf?.includes(other.client))
      .map((other) => [client, other] as const),
  )
  return [
    ...inOneFile.map(({ client, file, asks }): [string, string] => [
      `each call of ${client} is decided ${asks?.beforeCount} times: as many hooks in ${file} ask a gate`,
      `\`${asks?.renew}\` leaves one`,
    ]),
    ...runBoth.map(([client, other]): [string, string] => [
      `each call of ${client} may be decided twice: it also runs the hooks of ${other.client} in ${other.file}`,
      `take the hooks of one of them back: \`sluice init --undo\`, then \`sluice init --hooks\` with the other`,
    ]),
  ]
}

function checkHook(report: HooksReport, { data, servers, urls }: CheckedGate, add: AddFinding) {
  const { client, file, asks, foreign, unreadable, hasSandbox } = report
  if (asks === undefined) return
  if (unreadable !== undefined)
    add(
      'warn',
      `${client} may not read its hooks: ${file} is not plain JSON (${unreadable})`,
      'take comments and last commas out of it; Claude Code drops such a file without a word',
    )
  if (asksGateAt(report, urls)) {
    const name = Object.entries(servers).find(([, one]) => isOf(one, client))?.[0]
    add('ok', `${client} asks this gate by hooks${name === undefined ? '' : lastCall(data, name)}`)
  } else
    add(
      'warn',
      `${client} asks another gate by hooks, at ${asks.url}`,
      `if this one is meant (${urls[0]}): \`sluice init --hooks ${client}\``,
    )
  const isBoxed = Object.values(servers).some(
    (one) => isOf(one, client) && boxSettingsOf(one) !== undefined,
  )
  if (hasSandbox && isBoxed)
    add(
      'warn',
      `${client} has a sandbox of its own, from which its lines cannot enter the box of the gate`,
      `turn it off in ${file}, or take \`sandbox\` from the client in sluice.yaml`,
    )
  for (const warning of listHookWarnings(client, asks)) add('warn', ...warning)
  if (foreign > 0)
    add(
      'warn',
      `${client} has ${plural(foreign, 'hook')} of others, which can change a call after the gate has decided on it`,
      `look at them: ${file}`,
    )
}

function isOf(server: GateConfig['servers'][string], client: string): boolean {
  return server.kind === 'builtin' && server.builtin === client
}

function lastCall(data: string, server: string): string {
  const atMs = attempt(() =>
    withLedger(data, (ledger) =>
      withIndex(data, ledger, (index) => {
        const [call] = queryLedger(ledger, { server, limit: 1 }, index).calls
        return call?.record.atMs
      }),
    ),
  )
  if (atMs === undefined) return ', and no call has come yet'
  return `, the last call came at ${new Date(atMs).toISOString()}`
}
