// `npm run soak -- beside [--version NAME] [--seconds N]`: a gate of another version beside one of this version on one
// PostgreSQL, for a minute of calls (test/upgrade/beside.ts).

import type { RunOptions } from '../../scripts/dispatch.ts'
import { findPostgres, startPostgres } from '../support/postgres.ts'
import { endGates } from '../support/start-gate.ts'
import { runBeside } from '../upgrade/beside.ts'

export async function run(options: RunOptions): Promise<number> {
  const { seconds = '60', version = '0.1.0-b188b93' } = options
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('PostgreSQL is not installed')
  const server = await startPostgres(postgres)
  try {
    const size = { calls: 150, forMs: Number(seconds) * 1_000, onCalls: report }
    const wrong = await runBeside(server, String(version), size)
    for (const each of wrong) console.log(each)
    console.log(`${version} beside this version, ${seconds} s: ${wrong.length} things wrong`)
    return wrong.length === 0 ? 0 : 1
  } finally {
    await endGates()
    await server.end()
  }
}

function report(calls: number): void {
  console.log(`${calls} calls`)
}
