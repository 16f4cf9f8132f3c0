// Several writes as one transaction: all of them or none, and one write of the log instead of one each.

import type { DatabaseSync } from 'node:sqlite'

/** `work` may not wait for anything: the writes of others on this connection would be part of it. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
