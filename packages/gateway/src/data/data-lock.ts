// One process owns a data directory. The lock is one of the system's own, on a file held open, so it
// goes with its process however that ends: no stale lock, and no race for one. A second file says
// whose it is.

import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { openFile } from '@sluice/ledger/store/sqlite/open-file'
import { attempt } from '@sluice/policy/structures/attempt'
import { backUp } from './backup.ts'
import { bringUpToDate } from './data-version.ts'

const SQLITE_BUSY = 5

export class DataInUseError extends Error {}

export class DataLock {
  readonly #database: DatabaseSync
  readonly #pidFile: string

  private constructor(database: DatabaseSync, pidFile: string) {
    this.#database = database
    this.#pidFile = pidFile
  }

  /** Throws `DataInUseError`, which says who has it, or a StoreError. */
  static take(directory: string): DataLock {
    makePrivateFolder(directory)
    const file = join(directory, 'gate.lock')
    const pidFile = join(directory, 'gate.pid')
    const database = openFile(file, { timeout: 0 })
    try {
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
      chmodSync(file, 0o600)
      writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 })
    } catch (error) {
      database.close()
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
      throw new DataInUseError(
        `process ${ownerOf(pidFile)} uses ${directory}: stop it with \`sluice stop\`, or use another --data`,
      )
    }
    const lock = new DataLock(database, pidFile)
    try {
      bringUpToDate(directory, (version) =>
        backUp(directory, `${directory}.v${version}-${Date.now()}`, new Date()),
      )
      return lock
    } catch (error) {
      lock.release()
      throw error
    }
  }

  /** Whether somebody has the directory: also a gate that does not listen yet, or no longer. Takes nothing. */
  static isHeld(directory: string): boolean {
    const file = join(directory, 'gate.lock')
    if (!existsSync(file)) return false
    const database = openFile(file, { timeout: 0, readOnly: true })
    try {
      database.prepare('SELECT 1 FROM sqlite_schema').get()
      return false
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
      return true
    } finally {
      database.close()
    }
  }

  release(): void {
    if (!this.#database.isOpen) return
    rmSync(this.#pidFile, { force: true })
    this.#database.close()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}

/** Only to tell a person; the lock itself is what holds. */
function ownerOf(pidFile: string): string {
  return attempt(() => readFileSync(pidFile, 'utf8').trim(), 'another')
}
