// Puts a dump of a fixture into a database whose clock is that of the fixture.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'

const RESTORE_DEADLINE_MS = 60_000

/** Before anything is created, so that functions and defaults of the dump, and those of later migrations, use it. */
const setClock = (aheadMs: number) =>
  ['clock_timestamp', 'now']
    .map(
      (name) => `ALTER FUNCTION pg_catalog.${name}() RENAME TO real_${name};
CREATE FUNCTION pg_catalog.${name}() RETURNS timestamptz LANGUAGE sql AS
  $$ SELECT pg_catalog.real_${name}() + interval '${aheadMs} ms' $$;`,
    )
    .join('\n')

/** `folder` has the dump and the long values that were taken out of it. */
export async function restoreDump(url: string, folder: string, aheadMs: number): Promise<void> {
  const connections = new PostgresConnections(parsePostgresUrl(url))
  try {
    const dump = readFileSync(join(folder, 'dump.sql'), 'utf8').replaceAll(
      /:(bytes-\d+):/g,
      (_, name: string) => `'\\x${readFileSync(join(folder, name), 'hex')}'`,
    )
    const text = ['SET allow_system_table_mods = on;', setClock(aheadMs), dump].join('\n')
    await connections.query(text, undefined, RESTORE_DEADLINE_MS)
  } finally {
    await connections.close()
  }
}
