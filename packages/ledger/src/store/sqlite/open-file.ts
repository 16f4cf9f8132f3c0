// Opens a database file. SQLite is loaded with the first file, because commands that open none start faster without it.

import type { DatabaseSync, DatabaseSyncOptions } from 'node:sqlite'

export function openFile(file: string | URL, options: DatabaseSyncOptions): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite')
  return new sqlite.DatabaseSync(file, options)
}
