// Copies a data directory while a gate may be writing to it: every database as one consistent state,
// every other file as it is, and a list of all with their digests. The record is copied last, so that
// it knows of everything the other files do. Holds keys and hashes of tokens: for its owner only.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { readCheckpoints } from '@sluice/ledger/chain/checkpoint-file'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { CHECKPOINTS_FILE, MERGED_FOLDER, NAMES_FILE } from '@sluice/ledger/records/files'
import { openFile } from '@sluice/ledger/store/sqlite/open-file'
import type { IntegrityProblem } from '@sluice/ledger/verify/verifier'
import { verifyLedger } from '@sluice/ledger/verify/verify'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { DATA_VERSION } from './data-version.ts'
import { BACKUP_FILES_MAX } from './limits.ts'

/** A file of a backup, as `backup.json` lists it. Stored: a member that is renamed makes every backup unreadable. */
export interface BackupFile {
  /** Path from the folder of the backup. */
  readonly name: string
  readonly bytes: number
  /** SHA-256 of the content, in hex. */
  readonly sha256: string
}

/** `backup.json`: what a backup has in it. Stored. */
export interface Manifest {
  /** Version of the data directory, `DATA_VERSION` of the program that made the backup. */
  readonly version: number
  /** When the backup was made, as an ISO time. */
  readonly at: string
  /** The last record of the ledger and the hash after it, as `sluice ledger verify` prints them. */
  readonly head: { readonly seq: number; readonly hash: string }
  readonly files: readonly BackupFile[]
}

/** What is found when the ledger of a copied data directory is read from its first record to its last. */
export interface CopyVerification {
  /** The last record and the hash after it. */
  readonly head: Manifest['head']
  /** What does not fit together; empty if the ledger is as it was written. */
  readonly problems: readonly IntegrityProblem[]
}

const PART_BYTES = 1_048_576
export const MANIFEST = 'backup.json'
export const LEDGER = 'ledger.db'

/** What belongs to the running process, or can be made again. */
const LEFT_OUT =
  /^(agents\.lock|gate\.(lock|pid|sock|log)|servers\.json|ledger\.reserve|ledger-index\.db|backup\.json|traces-\w+\.sealed|session-memory\.db|owner\.mark(\.\w+)?)$|-(wal|shm|journal)$|\.backup$/

/** `to` must not be there yet, or be empty. */
export function backUp(data: string, to: string, now: Date): Manifest {
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new OperationError(`\`${to}\` is not empty`, 'name a folder that is not there yet')
  mkdirSync(to, { recursive: true, mode: 0o700 })
  chmodSync(to, 0o700)
  const names = filesOf(data).sort((one, other) => rank(one) - rank(other))
  if (!names.includes(LEDGER))
    throw new OperationError(
      `\`${data}\` has no record of calls`,
      'name the data directory of a gate',
    )
  const files = names.map((name) => copyOne(data, to, name))
  const { head, problems } = verifyCopy(to)
  if (problems.length > 0)
    throw new OperationError(
      `the record does not fit together: ${problems[0]?.message}`,
      'see `sluice ledger verify`; the copy was made as it is',
    )
  const manifest = { version: DATA_VERSION, at: now.toISOString(), head, files }
  writeFileSync(join(to, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  return manifest
}

export function verifyCopy(directory: string): CopyVerification {
  using ledger = openLedgerReadOnly(directory)
  const checkpoints = readCheckpoints(join(directory, CHECKPOINTS_FILE))
  // A gate that has just begun may have made none.
  return verifyLedger(ledger, checkpoints.length === 0 ? {} : { checkpoints })
}

/** Regular files only, by their path from the directory; no link is followed out of it. */
export function filesOf(directory: string): string[] {
  const names: string[] = []
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const parts = name.split(/[\\/]/)
    const top = parts.at(-1) ?? name
    if (
      parts[0] === MERGED_FOLDER ||
      LEFT_OUT.test(top) ||
      !lstatSync(join(directory, name)).isFile()
    )
      continue
    names.push(name)
    if (names.length > BACKUP_FILES_MAX)
      throw new OperationError(
        `\`${directory}\` has more than ${BACKUP_FILES_MAX} files`,
        'is this the data directory of a gate?',
      )
  }
  return names
}

/** Records must not name somebody whom the copy does not know. */
function rank(name: string): number {
  if (name === NAMES_FILE) return 2
  return name === LEDGER ? 1 : 0
}

function copyOne(from: string, to: string, name: string): BackupFile {
  const target = join(to, name)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  if (name.endsWith('.db')) copyDatabase(join(from, name), target)
  else copyFileSync(join(from, name), target)
  chmodSync(target, 0o600)
  return describeFile(to, name)
}

/** A consistent snapshot of the file, also if it is written meanwhile. */
function copyDatabase(from: string, to: string): void {
  using database = openFile(from, { readOnly: true, timeout: 5_000 })
  database.prepare('VACUUM INTO ?').run(to)
}

export function describeFile(directory: string, name: string): BackupFile {
  const digest = createHash('sha256')
  const part = Buffer.allocUnsafe(PART_BYTES)
  const file = openSync(join(directory, name), 'r')
  let bytes = 0
  try {
    // Piece by piece: a record of years does not fit into memory.
    for (let count = readSync(file, part); count > 0; count = readSync(file, part)) {
      digest.update(part.subarray(0, count))
      bytes += count
    }
  } finally {
    closeSync(file)
  }
  return { name, bytes, sha256: digest.digest('hex') }
}
