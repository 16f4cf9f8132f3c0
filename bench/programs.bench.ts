// `npm run bench -- programs [--count N]`: processor time of the gate for a call that a program of `run_code` makes,
// beside the same call made by a client over HTTP. Rounds of 100 calls of both alternate in one run; Linux only.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { PlainClient } from '../test/support/plain-client.ts'
import { endGates, fixture, type RunningGate, startGate } from '../test/support/start-gate.ts'

const CALLS = 100
/** Rounds before the measurement: the code is compiled by then. */
const WARM = 10
const TICK_MS = 10
const PROGRAM = `for (let n = 0; n < ${CALLS}; n++) await tools.count.write({ n })`

export async function run({ count = '20' }: RunOptions): Promise<number> {
  const gate = await startGate({
    servers: { code: { builtin: 'code' }, count: fixture('counter', '/dev/null') },
  })
  const client = await PlainClient.open(gate, '?mode=code')
  const direct = async (): Promise<void> => {
    for (let n = 0; n < CALLS; n++) await client.call('count__write', { n })
  }
  const inProgram = async (): Promise<void> => {
    const { status } = await client.value('run_code', { code: PROGRAM })
    if (status !== 'completed') throw new Error(`the program is ${status}`)
  }
  const spent = { direct: [] as number[], inProgram: [] as number[] }
  for (let round = -WARM; round < Number(count); round++)
    for (const [name, work] of Object.entries({ direct, inProgram })) {
      const before = cpuMs(gate)
      await work()
      if (round >= 0) spent[name as keyof typeof spent].push((cpuMs(gate) - before) / CALLS)
    }
  await endGates()
  const [one, other] = [mean(spent.direct), mean(spent.inProgram)]
  console.log(`direct call:         ${one.toFixed(2)} ms of processor time`)
  console.log(`call of a program:   ${other.toFixed(2)} ms of processor time`)
  console.log(
    `ratio:               ${(other / one).toFixed(2)} (${count} rounds of ${CALLS} calls)`,
  )
  return 0
}

/** Of the process with its threads, and not of the servers that it started. */
function cpuMs({ process: { pid } }: RunningGate): number {
  const fields = readFileSync(join('/proc', String(pid), 'stat'), 'utf8')
    .split(') ')[1]
    ?.split(' ')
  return (Number(fields?.[11]) + Number(fields?.[12])) * TICK_MS
}

/** Not the median: a round is a dozen ticks of the clock, which is too coarse for one. */
function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
