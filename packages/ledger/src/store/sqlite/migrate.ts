// The schema version of a database file and its migration to the newest one. A file of a newer
// version is refused; an older one is backed up next to itself before it is migrated in one
// transaction, unless it is derived from others.

import { closeSync, existsSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { newerVersion, notOurs, olderVersion } from '../files/faults.ts'

/** SQL that migrates from one version to the next. */
export type Migration = string

/** `slce`: this file is Sluice's. */
const APPLICATION_ID = 0x736c6365

export interface FileVersions {
  /** In order; the version of a file is the number of migrations applied. */
  readonly migrations: readonly Migration[]
  /** A file of a version before it is refused. */
  readonly oldest?: number
  /**
   * Derived from other files and decides nothing: may be created next to data of another user's
   * gate, such as a backup under examination. No copy is kept of an older one.
   */
  readonly isDerived?: boolean
}

export function checkVersion(
  database: DatabaseSync,
  file: string,
  { migrations, oldest = 1 }: FileVersions,
): void {
  const version = pragma(database, 'user_version')
  const application = pragma(database, 'application_id')
  const tables = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0)
  if (application !== APPLICATION_ID && (application !== 0 || tables > 0)) throw notOurs(file)
  if (version > migrations.length) throw newerVersion(file, version, migrations.length)
  if (version > 0 && version < oldest) throw olderVersion(`\`${file}\``, version, oldest)
}

export function migrate(
  database: DatabaseSync,
  file: string,
  { migrations, isDerived = false }: FileVersions,
): void {
  const version = pragma(database, 'user_version')
  if (version === migrations.length) return
  if (version > 0 && !isDerived) copyBeside(database, file, version)
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have been faster while this one waited for the lock.
    const now = pragma(database, 'user_version')
    for (const step of migrations.slice(now)) database.exec(step)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** `ledger.db.v1.backup`, with a number if that is taken. */
function copyBeside(database: DatabaseSync, file: string, version: number): void {
  let copy = `${file}.v${version}.backup`
  for (let number = 2; existsSync(copy); number++) copy = `${file}.v${version}-${number}.backup`
  closeSync(openSync(copy, 'wx', 0o600))
  database.prepare('VACUUM INTO ?').run(copy)
}

function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0)
}
