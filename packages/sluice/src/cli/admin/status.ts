// `sluice status`: does the gate run, what does it serve, what is frozen, and is everything it needs
// in order. If none runs, what it would find.

import { isObject, type JsonObject, listObjects } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import { describeFreezeTarget, type Freeze } from '../../gateway/state/freezes.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { addDataOptions, type DataOptions, findData } from '../connect/find-data.ts'
import { askGate } from '../connect/gate-socket.ts'
import { showPeople } from './show-people.ts'

interface Options extends DataOptions {
  readonly metrics?: boolean
}

const EXAMPLES = `
Examples:
  sluice status
  sluice status --data ./.sluice --json
  sluice status --metrics

Exit code 0 if the gate runs and is ready, 1 if not.`

export function addStatus(parent: Command, answer: SetExitCode): void {
  addDataOptions(parent.command('status'))
    .option('--metrics', 'the figures of the gate, in the format of Prometheus')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const { data } = findData(options, { mayBeMissing: options.data === undefined })
      if (options.metrics === true) return answer(await metrics(data))
      const response = (await askGate(data, { do: 'status' })) ?? (await readOffline(data))
      const output = new Output(options)
      output.value(response)
      printStatus(response, output)
      answer(response.running === true && response.ready === true ? 0 : 1)
    })
}

/** They are what they are: the same text with --json too. */
async function metrics(data: string): Promise<0 | 1> {
  const response = await askGate(data, { do: 'metrics' })
  if (response === undefined) process.stderr.write('no gate runs\n')
  else process.stdout.write(String(response.text))
  return response === undefined ? 1 : 0
}

/** Loaded here: a running gate says all of it. */
async function readOffline(data: string): Promise<JsonObject> {
  return (await import('./offline-status.ts')).readOfflineStatus(data)
}

function printStatus(response: JsonObject, output: Output): void {
  const word = (style: 'green' | 'yellow', text: string) => output.paint(style, text)
  if (response.running !== true)
    output.line(`${word('yellow', 'not running')}: ${printable(String(response.data))}`)
  else {
    const state = response.ready === true ? word('green', 'ready') : word('yellow', 'not ready')
    const why = response.why === '' ? '' : `: ${printable(String(response.why))}`
    output.line(`${state}${why}`)
    output.line(`at ${printable(String(response.url))}, process ${response.pid}`)
    if (typeof response.page === 'string' && response.isPiped === true)
      output.line(`page ${printable(response.page)}: \`sluice console\` signs in`)
    if (Array.isArray(response.observed) && response.observed.length > 0)
      output.line(
        `${word('yellow', 'observing')}: nothing of ${response.observed.map((name) => `\`${printable(String(name))}\``).join(', ')} is enforced, every call passes; \`sluice enforce\` turns it on`,
      )
    const { documents, isFirstPolicy } = isObject(response.policy) ? response.policy : {}
    for (const { name, file, digest } of listObjects(documents))
      output.line(
        `${name === 'policy' ? '' : 'policy '}${printable(String(name))}: ${printable(String(file))} ${digest}`,
      )
    if (isFirstPolicy === true)
      output.line(
        `the policy files are in force as found at the start: the gate knew no earlier policy to compare with`,
      )
    for (const server of listObjects(response.servers)) output.line(serverLine(server, output))
    for (const { name, how } of listObjects(response.pendingServers))
      output.line(
        `${word('yellow', 'waits')}: server ${printable(String(name))}, ${how} in sluice.yaml: \`sluice server accept ${printable(String(name))}\``,
      )
    for (const { name, principal } of listObjects(response.sessions))
      output.line(`session of ${printable(String(principal))}: ${printable(String(name))}`)
    const ledger = isObject(response.ledger) ? response.ledger : {}
    output.line(`ledger: ${ledger.state}, ${plural(Number(ledger.records), 'record')}`)
  }
  showPeople(response, output)
  if (Number(response.waiting ?? 0) > 0)
    output.line(
      `${output.paint('yellow', plural(Number(response.waiting), 'call'))} waiting for approval: \`sluice approvals watch\``,
    )
  for (const frozen of listObjects(response.frozen)) {
    const why = frozen.why === '' ? '' : `: ${printable(String(frozen.why))}`
    output.line(
      `${output.paint('cyan', 'frozen')} ${printable(describeFreezeTarget(frozen as unknown as Freeze))} since ${frozen.at}${why}`,
    )
  }
}

function serverLine(server: JsonObject, output: Output) {
  const { name, kind, sessions, openRequests, fails, leftOut } = server
  const cut = leftOut === undefined ? '' : `, list cut: ${printable(String(leftOut))}`
  const line = `server ${printable(String(name))} (${kind}): ${plural(Number(sessions), 'session')}, ${plural(Number(openRequests), 'call')} in progress${cut}`
  if (fails === undefined) return line
  return `${line}, ${output.paint('yellow', 'failing')}: ${printable(String(fails))}`
}
