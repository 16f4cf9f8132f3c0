// `sluice status`: does the gate run, what does it serve, what is frozen, and is everything it needs
// in order. If none runs, what it would find.

import { existsSync } from 'node:fs'
import { homeOf } from '@sluice/gateway/config/user-folders'
import { HOOK_CLIENTS } from '@sluice/gateway/hooks/clients/table'
import { type GateStatus, SHOW_STATUS, WRITE_METRICS } from '@sluice/gateway/operations/status'
import { describeFreezeTarget } from '@sluice/gateway/state/freezes'
import { askIfRunning } from '../connect/ask-operation.ts'
import { DATA, type DataOptions, findData } from '../connect/find-data.ts'
import { hookFile } from '../init/hook-file.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { GATE_STATUS_MS_MAX } from '../terminal/limits.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import type { OfflineStatus } from './offline-status.ts'
import { showPeople } from './show-people.ts'

const EXAMPLES = `
Examples:
  sluice status
  sluice status --data ./.sluice --json
  sluice status --metrics

Exit code 0 if the gate runs and is ready, 1 if not.`

/** Of the clients of one caller; `sluice sessions list` has all of them. */
const NAMES_SHOWN_MAX = 3

export const add = defineCommand({
  name: 'status',
  options: { ...DATA, '--metrics': 'the figures of the gate, in the format of Prometheus' },
  examples: EXAMPLES,
  run: async (options, output) => {
    const { data } = findData(options, { mayBeMissing: options.data === undefined })
    if (options.metrics === true) return metrics(data)
    const response =
      (await askIfRunning(data, SHOW_STATUS, { waitMs: GATE_STATUS_MS_MAX })) ??
      (await readOffline(data))
    output.value(response)
    printStatus(response, output)
    await printHooks(options, response, output)
    return response.running && response.ready ? 0 : 1
  },
})

/** They are what they are: the same text with --json too. */
async function metrics(data: string): Promise<0 | 1> {
  const response = await askIfRunning(data, WRITE_METRICS)
  if (response === undefined) process.stderr.write('no gate runs\n')
  else process.stdout.write(response.text)
  return response === undefined ? 1 : 0
}

/** Loaded here: a running gate says all of it. */
async function readOffline(data: string): Promise<OfflineStatus> {
  return (await import('./offline-status.ts')).readOfflineStatus(data)
}

async function printHooks(
  options: DataOptions,
  status: GateStatus | OfflineStatus,
  output: Output,
): Promise<void> {
  const machine = { home: homeOf(process.env), environment: process.env }
  if (!HOOK_CLIENTS.some((client) => existsSync(hookFile(client, machine)))) return
  const { asksGateAt, inspectHooks } = await import('../init/hooks.ts')
  const { describeHooks } = await import('../init/hook-state.ts')
  const { gateAddress } = await import('../init/config.ts')
  const { policyOf } = await import('../init/plan-pack.ts')
  const { isQuietPolicy } = await import('../init/plan-quiet.ts')
  const { config: file, data } = options
  const isConfigured = data === undefined && existsSync(file)
  const configured = isConfigured ? [gateAddress(file, readText(file), []).local] : []
  // Of a data directory alone it is not known where its gate listens.
  const urls = status.running ? [status.url] : configured
  const policy = isConfigured ? policyOf(file, readText(file)) : undefined
  const isQuiet = policy !== undefined && existsSync(policy) && isQuietPolicy(readText(policy))
  for (const report of inspectHooks()) {
    const { client, asks, unreadable } = report
    if (asks === undefined) continue
    const isThisGate = urls.length === 0 || asksGateAt(report, urls)
    const [first, ...others] = isThisGate
      ? describeHooks(client, asks, isQuiet)
      : [`${client} asks another gate, at ${printable(asks.url)}`]
    const doubt =
      unreadable === undefined ? '' : '; it may not read its settings, see `sluice doctor`'
    for (const line of [`${first}${doubt}`, ...others]) output.line(`hooks: ${line}`)
  }
}

function printStatus(status: GateStatus | OfflineStatus, output: Output): void {
  if (status.running) printRunning(status, output)
  else output.line(`${output.paint('yellow', 'not running')}: ${printable(status.data)}`)
  showPeople(status, output)
  if (status.running && status.waiting > 0)
    output.line(
      `${output.paint('yellow', plural(status.waiting, 'call'))} waiting for approval: \`sluice approvals watch\``,
    )
  if (status.running && status.held > 0)
    output.line(
      `${output.paint('yellow', plural(status.held, 'definition'))} waiting for a person: \`sluice pin --held\``,
    )
  for (const frozen of status.frozen) {
    const why = frozen.why === '' ? '' : `: ${printable(frozen.why)}`
    output.line(
      `${output.paint('cyan', 'frozen')} ${printable(describeFreezeTarget(frozen))} since ${frozen.at}${why}`,
    )
  }
}

function printRunning(status: GateStatus, output: Output): void {
  const { ready, page, observed, policy, servers, pendingServers, sessions, ledger } = status
  const state = ready ? output.paint('green', 'ready') : output.paint('yellow', 'not ready')
  const why = status.why === '' ? '' : `: ${printable(status.why)}`
  output.line(`${state}${why}`)
  output.line(`at ${printable(status.url)}, process ${status.pid}`)
  if (page !== null && status.isPiped)
    output.line(`page ${printable(page)}: \`sluice console\` signs in`)
  if (observed.length > 0)
    output.line(
      `${output.paint('yellow', 'observing')}: nothing of ${observed.map((name) => `\`${printable(name)}\``).join(', ')} is enforced, every call passes; \`sluice enforce\` turns it on`,
    )
  for (const { name, file, digest } of policy.documents)
    output.line(
      `${name === 'policy' ? '' : 'policy '}${printable(name)}: ${printable(file)} ${digest}`,
    )
  if (policy.isFirstPolicy)
    output.line(
      `the policy files are in force as found at the start: the gate knew no earlier policy to compare with`,
    )
  if (servers.some(({ sandbox }) => sandbox === 'unconfined' || sandbox === 'not started'))
    output.line(output.paint('yellow', printable(status.unconfined)))
  for (const server of servers) output.line(serverLine(server, output))
  if (status.unboxed !== '')
    output.line(
      `${output.paint('yellow', 'not confined')}: lines of clients, ${printable(status.unboxed)}`,
    )
  for (const { box, client, project, processes, refusedHosts, noUndo } of status.boxes) {
    const refused =
      refusedHosts.length === 0 ? '' : `, refused: ${refusedHosts.map(printable).join(', ')}`
    const undo = noUndo === '' ? '' : `, no \`sluice undo\`: ${printable(noUndo)}`
    output.line(
      `box ${box} of ${printable(client)}: ${printable(project)}, ${plural(processes, 'process', 'processes')}${refused}${undo}`,
    )
  }
  for (const { name, how, help } of pendingServers)
    output.line(
      `${output.paint('yellow', 'waits')}: server ${printable(name)}, ${how} in sluice.yaml: ${printable(help)}`,
    )
  const open = sessions.filter(({ connections }) => connections > 0)
  for (const caller of new Set(open.map(({ principal }) => principal))) {
    const own = open.filter(({ principal }) => principal === caller)
    const names = [...new Set(own.map(({ name }) => printable(name)))]
    const more = names.length > NAMES_SHOWN_MAX ? ', …' : ''
    output.line(
      `${plural(own.length, 'session')} of ${printable(caller)}: ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`,
    )
  }
  const closed = sessions.length - open.length
  if (closed > 0)
    output.line(`${plural(closed, 'session')} without a connection: \`sluice sessions list\``)
  output.line(`ledger: ${ledger.state}, ${plural(ledger.records, 'record')}`)
}

function serverLine(server: GateStatus['servers'][number], output: Output): string {
  const { name, kind, sessions, openRequests, fails, leftOut, sandbox, credential } = server
  const hosts = server.refusedHosts.map(printable).join(', ')
  const parts = [
    leftOut === undefined ? '' : `, list cut: ${printable(leftOut)}`,
    credential === '' ? '' : `, ${printable(credential)}`,
    sandbox === '' ? '' : `, sandbox: ${printable(sandbox)}`,
    hosts === ''
      ? ''
      : `, ${output.paint('yellow', 'refused')}: ${hosts} (\`sluice server lock ${printable(name)} --add\`)`,
  ].join('')
  const line = `server ${printable(name)} (${kind}): ${plural(sessions, 'session')}, ${plural(openRequests, 'call')} in progress${parts}`
  if (fails === undefined) return line
  return `${line}, ${output.paint('yellow', 'failing')}: ${printable(fails)}`
}
