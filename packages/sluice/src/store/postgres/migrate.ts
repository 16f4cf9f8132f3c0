// Creates the tables of a shared store and brings older ones up to date. One gate at a time; the others
// wait. A database with tables of a newer version is accepted: migrations only add.

import { MIGRATE_DEADLINE_MS } from '../limits.ts'
import type { PostgresConnections } from './connections.ts'
import { MIGRATIONS } from './schema.ts'

const VERSION = `
  SELECT to_regclass('sluice.migrations') IS NOT NULL AS has_tables`

/** Statements in one text are one transaction: all of them or none. */
export async function migrate(connections: PostgresConnections): Promise<void> {
  const done = await appliedCount(connections)
  for (let version = done; version < MIGRATIONS.length; version++) {
    const sql = `
      SELECT pg_advisory_xact_lock(1936487785, 2);
      CREATE SCHEMA IF NOT EXISTS sluice;
      CREATE TABLE IF NOT EXISTS sluice.migrations (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
      INSERT INTO sluice.migrations (version) VALUES (${version + 1});
      ${MIGRATIONS[version]}`
    try {
      await connections.query(sql, undefined, MIGRATE_DEADLINE_MS)
    } catch (error) {
      // Another gate was faster: its row is the one that collides.
      if ((await appliedCount(connections)) <= version) throw error
    }
  }
}

async function appliedCount(connections: PostgresConnections): Promise<number> {
  const [found] = await connections.query(VERSION, [], MIGRATE_DEADLINE_MS)
  if (found?.has_tables !== true) return 0
  const count = 'SELECT coalesce(max(version), 0) AS version FROM sluice.migrations'
  const [row] = await connections.query(count, [], MIGRATE_DEADLINE_MS)
  return Number(row?.version)
}
