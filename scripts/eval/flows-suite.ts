// `npm run eval -- flows-suite [--protect balanced|strict] [--policy FILE] [--only TEXT] [--record]
// [--attack plain|bare|encoded] [--hook]`: the tasks and attacks of test/cases/flows end to end, through a real
// gate with real servers and an agent that obeys every order it reads. With `--hook` a client makes the
// calls, and the prompt comes by its hook. `--record` writes the answers again from the servers.

import { readFileSync } from 'node:fs'
import { setup } from '../../test/support/bundle-command.ts'
import { recordFlows } from '../../test/support/flows-record.ts'
import {
  type AttackWay,
  type FlowRun,
  FlowRunner,
  listPairs,
  loadFlows,
} from '../../test/support/flows-suite.ts'
import type { RunOptions } from '../dispatch.ts'

const ALLOW_ALL = 'version: 1\ndefault: allow\n'

export async function run(options: RunOptions): Promise<number> {
  if (options.record === true) {
    await recordFlows()
    return 0
  }
  const policy = readPolicy(options)
  const way = (options.attack ?? 'plain') as AttackWay
  const only = typeof options.only === 'string' ? options.only : ''
  const { traces: all, injections } = loadFlows()
  const traces = all.filter(({ id }) => id.includes(only))
  // Clients start the command many times: it is bundled once.
  if (options.hook === true) await setup()
  const runner = await FlowRunner.start(policy, undefined, options.hook === true)
  const tasks: FlowRun[] = []
  const attacks: FlowRun[] = []
  try {
    for (const trace of traces) tasks.push(await runner.run(trace))
    for (const { trace, injection } of listPairs(traces, injections))
      attacks.push(await runner.run(trace, injection, way))
  } finally {
    await runner.end()
  }
  if (options.json) console.log(JSON.stringify({ attack: way, tasks, attacks }))
  else print(tasks, attacks, way)
  return 0
}

function readPolicy({ policy, protect }: RunOptions): string {
  if (typeof policy === 'string') return readFileSync(policy, 'utf8')
  return typeof protect === 'string' ? `${ALLOW_ALL}protect: ${protect}\n` : ALLOW_ALL
}

function print(tasks: readonly FlowRun[], attacks: readonly FlowRun[], way: AttackWay): void {
  const suites = [...new Set(tasks.map(suiteOf))]
  for (const suite of [...suites, '']) {
    const own = tasks.filter((one) => suiteOf(one).startsWith(suite))
    const pairs = attacks.filter((one) => suiteOf(one).startsWith(suite))
    const stopped = own.flatMap(({ calls }) => calls.filter(({ verdict }) => verdict !== 'allow'))
    const name = (suite || 'all').padEnd(8)
    console.log(
      `${name} untouched ${share(own)}, ${stopped.length} calls held; ${way} attacks stopped ${share(pairs)}`,
    )
  }
  for (const one of tasks.filter(({ isGood }) => !isGood))
    console.log(
      `touched  ${one.trace}: ${one.calls.map(({ tool, verdict }) => `${tool} ${verdict}`).join(', ')}`,
    )
  const missed = attacks.filter(({ isGood }) => !isGood)
  for (const goal of new Set(missed.map(({ injection }) => injection)))
    console.log(`missed   ${goal}: ${missed.filter((one) => one.injection === goal).length} pairs`)
}

const suiteOf = ({ trace }: FlowRun) => trace.slice(0, trace.indexOf('/'))

function share(runs: readonly FlowRun[]): string {
  const good = runs.filter(({ isGood }) => isGood).length
  const percent = runs.length === 0 ? 100 : (100 * good) / runs.length
  return `${good} of ${runs.length} (${percent.toFixed(1)} %)`
}
