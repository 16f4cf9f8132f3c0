// Opens a database file of the data directory: created with a mode for its owner only, in WAL mode,
// migrated to the newest version of its schema, with deleted rows overwritten. Every failure is a StoreError that says what to do.
// Called by the modules that store something (ledger, identity, approvals, agents).

import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { missing, storeFault } from '../files/faults.ts'
import { checkFolderEntries, makePrivateFolder } from '../files/private-folder.ts'
import {
  BUSY_TIMEOUT_MS,
  CACHE_KIB_MAX,
  OPEN_TIMEOUT_MS,
  WAL_KEPT_BYTES_MAX,
  WAL_PAGES_MAX,
} from '../limits.ts'
import { checkVersion, type FileVersions, migrate } from './migrate.ts'
import { openFile } from './open-file.ts'

/** `normal` survives the death of the process, `full` also the loss of power. */
export type Sync = 'normal' | 'full'

export interface OpenOptions extends FileVersions {
  readonly directory: string
  /** The file's name in the directory, such as `ledger.db`. */
  readonly name: string
  readonly sync?: Sync
}

export function openDatabase(options: OpenOptions): DatabaseSync {
  const { directory, name, sync = 'normal' } = options
  const file = join(directory, name)
  let database: DatabaseSync | undefined
  try {
    if (options.isDerived === true) checkFolderEntries(directory)
    else makePrivateFolder(directory)
    makePrivate(file)
    database = openFile(file, { timeout: OPEN_TIMEOUT_MS })
    checkVersion(database, file, options)
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'};
      PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX};
      PRAGMA journal_size_limit = ${WAL_KEPT_BYTES_MAX};
      PRAGMA cache_size = -${CACHE_KIB_MAX};
      PRAGMA secure_delete = ON;
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;`)
    migrate(database, file, options)
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return database
  } catch (error) {
    if (database?.isOpen) database.close()
    throw storeFault(error, file)
  }
}

/** What was deleted is gone from the file too, and from its write-ahead log, unless another process reads it just now. */
export function overwriteDeleted(database: DatabaseSync): void {
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Read-only: creates nothing, changes nothing, and works while another process writes. */
export function openReadOnly(options: OpenOptions): DatabaseSync {
  const file = join(options.directory, options.name)
  if (!existsSync(file)) throw missing(file)
  try {
    return checked(file, file, options)
  } catch (error) {
    // In a directory that may not be written SQLite cannot create the files that readers share.
    // Without a write-ahead log no process is writing, and the file can be read directly.
    const resting = !existsSync(`${file}-wal`)
    if (!resting || storeFault(error, file).code === 'STORE_NEWER') throw storeFault(error, file)
    const url = pathToFileURL(file)
    url.searchParams.set('immutable', '1')
    try {
      return checked(url, file, options)
    } catch {
      throw storeFault(error, file)
    }
  }
}

function checked(where: string | URL, file: string, versions: FileVersions) {
  const database = openFile(where, { readOnly: true, timeout: OPEN_TIMEOUT_MS })
  try {
    checkVersion(database, file, versions)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  else if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
}
