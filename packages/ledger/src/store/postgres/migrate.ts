// Creates the tables of a shared store and brings older ones up to date, one gate at a time. Migrations that add
// are applied at once: gates of this version and of the one before run side by side. A migration that removes
// something waits until no live gate needs it, and shuts out gates that do not know better.

import { StoreError } from '../errors.ts'
import { olderVersion } from '../files/faults.ts'
import { GATE_GONE_MS, MIGRATE_DEADLINE_MS } from '../limits.ts'
import type { PostgresConnections } from './connections.ts'
import { FIRST_STORE_VERSION, getStoreVersion, MIGRATIONS, type StoreMigration } from './schema.ts'

const VERSION = `
  SELECT to_regclass('sluice.migrations') IS NOT NULL AS has_tables`
/** Tables of a version that is refused may have no column \`oldest\`. */
const APPLIED = `SELECT coalesce(max(version), 0) AS version,
  coalesce(max((to_jsonb(m) ->> 'oldest')::int), 0) AS oldest FROM sluice.migrations m`
/** One that has just started still says that it was stopped before. */
const LIVE = `SELECT 1 FROM sluice.gates WHERE tables < $1
  AND beat_at > now() - interval '${GATE_GONE_MS} ms' AND NOT (state = 'stopped' AND beat_at > started_at)`

export interface StoreVersion {
  /** Of the tables. */
  readonly version: number
  /** The lowest version that a gate has to know. */
  readonly oldest: number
}

export async function migrate(
  connections: PostgresConnections,
  migrations: readonly StoreMigration[] = MIGRATIONS,
): Promise<void> {
  const { version: done } = await checkStoreVersion(connections, getStoreVersion(migrations))
  for (const [at, migration] of migrations.entries()) {
    const version = FIRST_STORE_VERSION + at
    if (version <= done) continue
    if (await isTooEarly(connections, migration)) return
    try {
      await connections.query(sqlOf(version, migration), undefined, MIGRATE_DEADLINE_MS)
    } catch (error) {
      // Another gate was faster: its row is the one that collides.
      if ((await readStoreVersion(connections)).version < version)
        throw explain(error as Error, done === 0)
    }
  }
}

/** Throws if a gate that knows this version of the tables cannot use the store any more. */
export async function checkStoreVersion(
  connections: PostgresConnections,
  known = getStoreVersion(),
): Promise<StoreVersion> {
  const found = await readStoreVersion(connections)
  if (found.version > 0 && found.version < FIRST_STORE_VERSION)
    throw olderVersion('the shared store', found.version, FIRST_STORE_VERSION)
  if (found.oldest <= known) return found
  throw new StoreError(
    'STORE_NEWER',
    `the shared store needs gates that know version ${found.oldest} of its tables; this one knows ${known}`,
    'install the version of Sluice that the other gates have (`sluice gates`)',
  )
}

/** Statements in one text are one transaction: all of them or none. */
function sqlOf(version: number, { sql, oldest }: StoreMigration): string {
  const removal =
    oldest === undefined
      ? ''
      : `UPDATE sluice.migrations SET oldest = ${oldest} WHERE version = ${version};
         -- A gate that was not live when it was looked for is fenced.
         UPDATE sluice.gates SET epoch = epoch + 1, owner = '' WHERE tables < ${oldest};`
  return `
    SELECT pg_advisory_xact_lock(1936487785, 2);
    CREATE SCHEMA IF NOT EXISTS sluice;
    CREATE TABLE IF NOT EXISTS sluice.migrations (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(),
      oldest int NOT NULL DEFAULT 0);
    INSERT INTO sluice.migrations (version) VALUES (${version});
    ${sql}
    ${removal}`
}

/** Gates are live that need what it removes: the next gate that starts tries again. */
async function isTooEarly(
  connections: PostgresConnections,
  { oldest }: StoreMigration,
): Promise<boolean> {
  if (oldest === undefined) return false
  return (await connections.query(LIVE, [oldest], MIGRATE_DEADLINE_MS)).length > 0
}

async function readStoreVersion(connections: PostgresConnections): Promise<StoreVersion> {
  const [found] = await connections.query(VERSION, [], MIGRATE_DEADLINE_MS)
  if (found?.has_tables !== true) return { version: 0, oldest: 0 }
  const [row] = await connections.query(APPLIED, [], MIGRATE_DEADLINE_MS)
  return { version: Number(row?.version), oldest: Number(row?.oldest) }
}

function explain(error: Error & { code?: string }, isEmpty: boolean): Error {
  if (error.code !== '42501') return error
  const what = isEmpty
    ? 'the shared store has no tables yet, and its role may not create them'
    : 'the tables of the shared store are of an older version, and its role may not change them'
  const help = isEmpty
    ? 'name a role that owns the database, or may create schemas in it'
    : 'start one gate with a role that owns the schemas `sluice` and `sluice_agents`, then the others'
  return new StoreError('STORE_OWNER', `${what}: ${error.message}`, help, error)
}
