// `npm run soak -- cluster [--calls N] [--seed N] [--gates N]`: a seeded history of a cluster under faults,
// 20,000 calls if nothing is said; test/cluster/history.test.ts does the same with a few.

import type { RunOptions } from '../../scripts/dispatch.ts'
import { checkHistory } from '../cluster/history.ts'
import { makeHistory } from '../support/cluster-history.ts'
import { findPostgres, startPostgres } from '../support/postgres.ts'
import { endGates } from '../support/start-gate.ts'

export async function run(options: RunOptions): Promise<number> {
  const { calls = '20000', gates = '4', seed = '1' } = options
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('PostgreSQL is not installed')
  const server = await startPostgres(postgres)
  try {
    const size = { calls: Number(calls), gates: Number(gates), seed: Number(seed) }
    const history = await makeHistory(server, size)
    const wrong = checkHistory(history)
    for (const each of wrong.slice(0, 50)) console.log(each)
    const { arrivals, rows } = history
    console.log(
      `${calls} calls, ${arrivals.length} arrived, ${rows.length} records, ${wrong.length} things wrong`,
    )
    return wrong.length === 0 ? 0 : 1
  } finally {
    await endGates()
    await server.end()
  }
}
