// The database of the journal, and its driver for the file agents.db: statements prepared once, one transaction
// at a time, and the write-ahead log moved into the file while nobody waits. postgres-database.ts is the driver
// for a store that gates share. Knows no table. Owned by the journal.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { takeFileLock } from '@sluice/ledger/store/sqlite/file-lock'
import { openDatabase } from '@sluice/ledger/store/sqlite/open'
import { WAL_MOVED_COMMITS, WAL_PAGES_MAX } from '../shared/limits.ts'
import type { AgentLeases } from './leases.ts'
import { PostgresDatabase, type SharedJournalPlace } from './postgres-database.ts'
import type { SqlRow } from './read-rows.ts'
import { LAST_KEY, MIGRATIONS, OLDEST_VERSION } from './schema.ts'

export type Value = string | number | null | Uint8Array

export interface AgentDatabase {
  readonly isOpen: boolean
  /** Which families this process runs; undefined if no other process runs any. */
  readonly leases?: AgentLeases
  /** A condition on the agent `a`: its family is run by this process. */
  readonly own: string
  /** In a transaction: no other gate reads and changes settings until it ends. */
  lockSettings(): void
  /** The first of so many new keys that follow one another. */
  nextKeys(count: number): number
  /** All of it or nothing. */
  transact<Result>(work: () => Result): Result
  /** Parameters are `$1`, `$2` and so on. */
  run(sql: string, ...values: Value[]): void
  get(sql: string, ...values: Value[]): SqlRow | undefined
  all(sql: string, ...values: Value[]): SqlRow[]
  tidy(): void
  close(): void
}

/** A data directory, or a store that gates share. */
export type JournalPlace = string | SharedJournalPlace

export function openAgentDatabase(place: JournalPlace, onRollback: () => void): AgentDatabase {
  if (typeof place === 'string') return new Database(place, onRollback)
  return new PostgresDatabase(place, onRollback)
}

export class Database implements AgentDatabase {
  readonly own = '1 = 1'
  readonly database: DatabaseSync
  readonly #releaseLock: () => void
  readonly #statements = new Map<string, StatementSync>()
  readonly #onRollback: () => void
  #commits = 0
  #nextKey: number | undefined

  constructor(directory: string, onRollback: () => void) {
    // One process owns the agents: what it has in memory would not see another's events. A lock of
    // its own, and not SQLite's exclusive mode: a backup reads the file while agents run.
    this.#releaseLock = takeFileLock(directory, 'agents.lock')
    try {
      const versions = { migrations: MIGRATIONS, oldest: OLDEST_VERSION }
      this.database = openDatabase({ directory, name: 'agents.db', ...versions })
      this.database.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`)
    } catch (error) {
      this.#releaseLock()
      throw error
    }
    this.#onRollback = onRollback
  }

  get isOpen(): boolean {
    return this.database.isOpen
  }

  lockSettings(): void {}

  nextKeys(count: number): number {
    const first = this.#nextKey ?? 1 + Number(this.get(LAST_KEY)?.key)
    this.#nextKey = first + count
    return first
  }

  close(): void {
    this.database.close()
    this.#releaseLock()
  }

  transact<Result>(work: () => Result): Result {
    if (this.database.isTransaction) return work()
    this.run('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
      this.#onRollback()
      throw error
    }
  }

  /** Moves the log into the file, so that no commit has to and waits for the disk. */
  tidy(): void {
    if (this.#commits < WAL_MOVED_COMMITS) return
    this.#commits = 0
    this.database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  }

  run(sql: string, ...values: Value[]): void {
    this.#prepare(sql).run(...values)
    if (!this.database.isTransaction) this.#commits += 1
  }

  get(sql: string, ...values: Value[]): SqlRow | undefined {
    return this.#prepare(sql).get(...values) as SqlRow | undefined
  }

  all(sql: string, ...values: Value[]): SqlRow[] {
    return this.#prepare(sql).all(...values) as SqlRow[]
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      // SQLite binds values by their place if a parameter is `?1` instead of `$1`.
      statement = this.database.prepare(sql.replace(/\$(?=\d)/g, '?'))
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
