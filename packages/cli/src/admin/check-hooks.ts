// What `sluice doctor` says of the hooks of clients: whether they ask this gate, whether the client can read
// them, and when the last call came, because hooks that look right may never run.

import type { GateConfig } from '@sluice/gateway/config/config'
import { queryLedger } from '@sluice/ledger/query/query'
import { attempt } from '@sluice/policy/core/attempt'
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
  for (const report of inspectHooks()) checkHook(report, gate, add)
}

function checkHook(report: HooksReport, { data, servers, urls }: CheckedGate, add: AddFinding) {
  const { client, file, asks, foreign, unreadable } = report
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
