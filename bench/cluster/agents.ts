// Many agents at rest, the same ones in SQLite and in PostgreSQL: filled in SQLite, measured there, moved as
// `sluice store move` does it, and measured again. Used by cluster.bench.ts.

import { execFile } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copyAgents } from '../../packages/agents/src/journal/copy-tables.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { migrate } from '../../packages/ledger/src/store/postgres/migrate.ts'
import type { AtRest } from '../agents/at-rest.ts'
import { fillStore } from '../agents/fill-store.ts'
import { show } from '../agents/timing.ts'
import { workingTurns } from '../agents/working-turns.ts'

const OWNER = 'bench'
const TURNS = 15

export async function compareAgents(folder: string, url: string, agents: number): Promise<void> {
  const directory = join(folder, 'agents')
  mkdirSync(directory)
  writeFileSync(join(directory, 'work.json'), JSON.stringify({ turns: workingTurns(TURNS) }))
  const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
  await fillStore(directory, models, OWNER, agents)
  const bytes = statSync(join(directory, 'agents.db')).size
  report('SQLite', await measure([directory, OWNER, String(agents)]), bytes)
  const address = parsePostgresUrl(url)
  const connections = new PostgresConnections(address)
  await migrate(connections)
  const began = performance.now()
  const target = new PostgresConnections(address, { isTransaction: true, deadlineMs: 120_000 })
  await target.query('BEGIN')
  await copyAgents(directory, target)
  await target.query('COMMIT')
  await target.close()
  console.log(`moved in ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  const [row] = await connections.query('SELECT pg_database_size(current_database()) AS bytes')
  await connections.close()
  report('PostgreSQL', await measure([directory, OWNER, String(agents), url]), Number(row?.bytes))
}

async function measure(args: readonly string[]): Promise<AtRest> {
  const file = join(import.meta.dirname, '..', 'agents', 'at-rest.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args])
  return JSON.parse(stdout) as AtRest
}

function report(store: string, { rows, rssMb, startMs }: AtRest, bytes: number): void {
  for (const row of rows) console.log(`${store.padEnd(10)} ${show(row)}`)
  const onDisk = Math.round(bytes / 1_048_576)
  console.log(
    `${store}: RSS of the process ${rssMb} MB, start ${Math.round(startMs)} ms, ${onDisk} MB on disk`,
  )
}
