// A lock on a data directory that lasts as long as its process: an open exclusive transaction on an
// empty database, which the system ends with the process however it dies. For a file that one
// process writes and others may read. Called by the modules that cache rows in memory.

import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { storeFault } from '../files/faults.ts'
import { makePrivateFolder } from '../files/private-folder.ts'
import { OPEN_TIMEOUT_MS } from '../limits.ts'

/** Throws STORE_LOCKED if another process, or another thread of this one, has it. */
export function takeFileLock(directory: string, name: string): () => void {
  const file = join(directory, name)
  let lock: DatabaseSync | undefined
  try {
    makePrivateFolder(directory)
    lock = new DatabaseSync(file, { timeout: OPEN_TIMEOUT_MS })
    chmodSync(file, 0o600)
    lock.exec('BEGIN EXCLUSIVE')
    const taken = lock
    return () => {
      if (taken.isOpen) taken.close()
    }
  } catch (error) {
    if (lock?.isOpen) lock.close()
    throw storeFault(error, file)
  }
}
