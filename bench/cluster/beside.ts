// The gate of another tree and this one, each on a database of its own of one PostgreSQL, in alternating turns. Used by
// cluster.bench.ts.

import { join } from 'node:path'
import type { RunningPostgres } from '../../test/support/postgres.ts'
import { Load, type Side, takeTurns } from '../gateway/measure.ts'
import { type RunningProcess, start } from '../gateway/running.ts'
import { CALLER, installBeside, startSluice } from '../gateway/sluice.ts'

export interface BesideOptions {
  readonly folder: string
  /** Of this tree. */
  readonly command: string
  /** The other tree. */
  readonly tree: string
  readonly policy: string
  /** The command of the server that both call. */
  readonly echo: readonly string[]
  /** The key of the cluster. */
  readonly key: string
  readonly server: RunningPostgres
  readonly rounds: number
  readonly turnMs: number
}

const CLIENTS = [1, 16] as const
const WARM_CALLS = 2_000

/** Prints throughput, latency and CPU of a call of both, and the ratios within the rounds. */
export async function compareBeside(options: BesideOptions): Promise<void> {
  const { folder, server } = options
  const load = new Load()
  const running: RunningProcess[] = []
  try {
    const echo = await start({ command: [...options.echo] })
    running.push(echo)
    const begin = async (name: string, command: string): Promise<Side> => {
      await server.createDatabase(name)
      const gate = await startSluice({
        command,
        folder: join(folder, `gate-${name}`),
        server: { url: echo.url },
        policy: options.policy,
        config: { store: server.url(name), cluster: { name, key: options.key } },
      })
      running.push(gate)
      return { name, url: gate.url, pid: gate.pid, headers: CALLER, sessionsMax: 16 }
    }
    const other = await installBeside(options.tree, folder)
    const sides = [await begin('beside', other), await begin('this', options.command)]
    const figures = await takeTurns(load, sides, {
      clients: [...CLIENTS],
      rounds: options.rounds,
      turnMs: options.turnMs,
      warmCalls: WARM_CALLS,
      onLeftOut: ({ name }, why) => console.log(`without ${name}: ${why}`),
    })
    for (const { name, clients, callsPerSecond, ofFirst, p50Us, cpuUs, cpuOver } of figures) {
      const ratio = (of: typeof ofFirst) =>
        `${of.p50.toFixed(2)} (${of.p10.toFixed(2)} to ${of.p90.toFixed(2)})`
      console.log(
        `${`${name}, ${clients}`.padEnd(12)} ${callsPerSecond.p50.toFixed(0).padStart(6)} calls/s  p50 ${(p50Us.p50 / 1_000).toFixed(2)} ms  ${cpuUs.p50.toFixed(0)} µs of CPU; of the other: throughput ${ratio(ofFirst)}, CPU ${ratio(cpuOver)}`,
      )
    }
  } finally {
    load.end()
    for (const each of running.reverse()) await each.stop()
  }
}
