// `npm run soak -- cluster [--only limits|connections|agents|history] [--calls N] [--seed N] [--gates N] [--workers N]
// [--rounds N]`: what test/cluster shows with a few calls, in full: S1 with 1,000 calls at once, S10 with 20 gates, S3
// with agents that are stopped at many places, and S12, a seeded history under faults (20,000 calls if nothing is said).

import type { RunOptions } from '../../scripts/dispatch.ts'
import { checkHistory } from '../cluster/history.ts'
import { makeHistory } from '../support/cluster-history.ts'
import { checkAgents, checkConnections, checkLimits } from '../support/cluster-in-full.ts'
import { findPostgres, type RunningPostgres, startPostgres } from '../support/postgres.ts'
import { endGates } from '../support/start-gate.ts'

const PARTS = {
  limits: checkLimits,
  connections: checkConnections,
  agents: checkAgents,
  history: runHistory,
}

export async function run(options: RunOptions): Promise<number> {
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('PostgreSQL is not installed')
  const { only } = options
  const parts = Object.entries(PARTS).filter(([name]) => only === undefined || only === name)
  if (parts.length === 0) throw new Error(`--only is one of ${Object.keys(PARTS).join(', ')}`)
  const server = await startPostgres(postgres)
  let problems = 0
  try {
    for (const [name, part] of parts) {
      const startedMs = performance.now()
      const wrong = await part(server, options)
      for (const each of wrong.slice(0, 50)) console.log(each)
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0)
      console.log(`${name}: ${wrong.length} things wrong, ${seconds} s`)
      problems += wrong.length
      await endGates()
    }
    return problems === 0 ? 0 : 1
  } finally {
    await endGates()
    await server.end()
  }
}

async function runHistory(server: RunningPostgres, options: RunOptions): Promise<string[]> {
  const { calls = '20000', gates = '4', seed = '1', workers = '8' } = options
  let nextAt = 0
  const history = await makeHistory(server, {
    calls: Number(calls),
    gates: Number(gates),
    seed: Number(seed),
    workers: Number(workers),
    onProgress: (made, faults) => {
      if (made < nextAt) return
      nextAt = made + Number(calls) / 10
      console.log(`${made} calls, ${faults} faults`)
    },
  })
  const { arrivals, rows } = history
  console.log(`${calls} calls, ${arrivals.length} arrived, ${rows.length} records`)
  return checkHistory(history)
}
