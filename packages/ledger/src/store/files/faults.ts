// Converts errors of SQLite and of the file system into the store's own: each says what to do. The
// primary result code is the low byte of SQLite's extended one.

import { StoreError, type StoreErrorCode } from '../errors.ts'

const BY_RESULT = new Map<number, StoreErrorCode>([
  [5, 'STORE_LOCKED'],
  [6, 'STORE_LOCKED'],
  [8, 'STORE_READ_ONLY'],
  [10, 'STORE_IO'],
  [11, 'STORE_CORRUPT'],
  [13, 'STORE_FULL'],
  [14, 'STORE_IO'],
  [26, 'STORE_CORRUPT'],
])

const BY_ERRNO = new Map<string, StoreErrorCode>([
  ['ENOSPC', 'STORE_FULL'],
  ['EDQUOT', 'STORE_FULL'],
  ['EROFS', 'STORE_READ_ONLY'],
  ['EACCES', 'STORE_READ_ONLY'],
  ['EPERM', 'STORE_READ_ONLY'],
  ['ENOENT', 'STORE_MISSING'],
])

const HELP: Record<StoreErrorCode, string> = {
  STORE_FULL: 'free some space',
  STORE_READ_ONLY: 'check owner and mode of the directory and of the files in it',
  STORE_OWNER: 'use a directory of your own, or take the rights of others away',
  STORE_FOREIGN: 'move it away, or confirm it in a terminal: sluice up --trust-data',
  STORE_LINK: 'remove the link',
  STORE_USER_KEY: 'check the state folder of the user',
  STORE_LOCKED: 'end the other process that writes there, or wait for it',
  STORE_CORRUPT: 'restore a backup; the file itself is left as it is',
  STORE_NEWER: 'use the version that made it, or restore a backup',
  STORE_OLDER: 'start with a new one: no released version made it',
  STORE_MISSING: 'no gate has run with this data directory yet: name another with --data',
  STORE_IO: 'check the disk; the system log may say more',
  STORE_ADDRESS: 'write postgres://user@host:5432/database',
  STORE_UNREACHABLE: 'see that PostgreSQL runs and is reachable; the gate recovers automatically',
  STORE_FENCED: 'give each gate its own `cluster: { name }`',
  STORE_LOST: 'a failover or a restored backup lost commits: see docs/concepts/scale.md',
  STORE_CONFLICT: 'look at what holds now, and try again',
  STORE_KEY: 'use the same `cluster: { key }` at every gate',
}

/** What was attempted, on which file, and why it failed. */
export function storeFault(error: unknown, file: string): StoreError {
  if (error instanceof StoreError) return error
  const code = toStoreCode(error)
  const why = (error as Error | undefined)?.message ?? String(error)
  return new StoreError(code, `\`${file}\`: ${why}`, HELP[code], error)
}

/** Runs `work` on a file; what it throws becomes a StoreError. */
export function guardFile<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw storeFault(error, file)
  }
}

function toStoreCode(error: unknown): StoreErrorCode {
  const { errcode, code } = (error ?? {}) as { errcode?: number; code?: string }
  if (typeof errcode === 'number') return BY_RESULT.get(errcode & 0xff) ?? 'STORE_IO'
  return BY_ERRNO.get(code ?? '') ?? 'STORE_IO'
}

export function newerVersion(file: string, found: number, known: number): StoreError {
  return new StoreError(
    'STORE_NEWER',
    `\`${file}\` has version ${found}, this program knows up to ${known}`,
    HELP.STORE_NEWER,
  )
}

export function olderVersion(place: string, found: number, oldest: number): StoreError {
  return new StoreError(
    'STORE_OLDER',
    `${place} has version ${found}, this program knows versions from ${oldest} on`,
    HELP.STORE_OLDER,
  )
}

export function notOurs(file: string): StoreError {
  return new StoreError(
    'STORE_CORRUPT',
    `\`${file}\` is a database of another program`,
    'name another data directory',
  )
}

export function missing(file: string): StoreError {
  return new StoreError('STORE_MISSING', `\`${file}\` is not there`, HELP.STORE_MISSING)
}
