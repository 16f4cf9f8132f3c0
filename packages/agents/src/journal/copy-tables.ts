// Copies the agents of a data directory into a shared store, as part of a larger transaction: every row of every
// table, as it is, and the first key that gates give from then on. Called by `sluice store move`.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { insertRows } from '@sluice/ledger/store/postgres/insert-rows'
import { AGENT_KEYS_AT_ONCE } from '../shared/limits.ts'
import { Database } from './database.ts'
import { TABLES } from './schema.ts'

/** How many agents there were; throws if the store has other rows than the directory afterwards. */
export async function copyAgents(directory: string, target: PostgresConnections): Promise<number> {
  if (!existsSync(join(directory, 'agents.db'))) return 0
  const source = new Database(directory, () => {})
  try {
    for (const table of TABLES) {
      const columns = source
        .all(`SELECT name FROM pragma_table_info('${table}')`)
        .map(({ name }) => String(name))
      const statement = source.database.prepare(`SELECT ${columns.join()} FROM ${table}`)
      const rows = statement.iterate() as Iterable<Record<string, unknown>>
      const sent = await insertRows(
        target,
        `sluice_agents.${table}`,
        columns,
        asLists(rows, columns),
      )
      const [row] = await target.query(`SELECT count(*) AS n FROM sluice_agents.${table}`)
      if (Number(row?.n) !== sent)
        throw new Error(`\`${table}\` has ${row?.n} rows in the store, and ${sent} were sent`)
    }
    const next = Math.ceil(source.nextKeys(1) / AGENT_KEYS_AT_ONCE) * AGENT_KEYS_AT_ONCE + 1
    await target.query(`SELECT setval('sluice_agents.keys', ${next}, false)`)
    return Number(source.get('SELECT count(*) AS n FROM agents')?.n)
  } finally {
    source.close()
  }
}

function* asLists(
  rows: Iterable<Record<string, unknown>>,
  columns: readonly string[],
): Generator<readonly unknown[]> {
  for (const row of rows) yield columns.map((column) => row[column])
}
