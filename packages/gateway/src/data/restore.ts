// Puts a backup in the place of a data directory: only while no gate has it, only if every file is as
// it was copied and the record verifies. What was there before is moved aside, not deleted. Called
// under the directory's lock.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { endAllSignIns } from '@sluice/access/identity/people/stored-sign-ins'
import { Ledger } from '@sluice/ledger/ledger'
import { Names } from '@sluice/ledger/records/names'
import { attempt } from '@sluice/policy/structures/attempt'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import {
  type BackupFile,
  describeFile,
  filesOf,
  LEDGER,
  MANIFEST,
  type Manifest,
  verifyCopy,
} from './backup.ts'
import { DATA_VERSION } from './data-version.ts'
import { createHider } from './open-ledger.ts'

/** Without these it is not a data directory: keys would be created again, and the ledger would restart. */
const REQUIRED = ['identity.key', LEDGER]

export interface RestoreResult {
  /** When the backup was made, as an ISO time. */
  readonly at: string
  /** The last record of the restored ledger and the hash after it. */
  readonly head: Manifest['head']
  /** The folder with the files that were there before; null if there were none. */
  readonly movedTo: string | null
}

/** Makes a copy of the backup beside the old data and verifies it. Only then the old data is moved aside, and it is
 * put back if anything fails afterwards. */
export async function restoreBackup(from: string, data: string, now: Date): Promise<RestoreResult> {
  const manifest = readManifest(from)
  const suffix = now.toISOString().replace(/[:.]/g, '-')
  const copy = `${data}.restoring-${suffix}`
  const aside = `${data}.before-${suffix}`
  const names = manifest.files.map(({ name }) => name)
  try {
    checkNames(from, manifest)
    moveEach(names, from, copy, copyPrivately)
    checkCopy(copy, manifest)
    const old = filesOf(data)
    // A directory that was made for this has nothing but its version.
    const movedTo = old.every((name) => name === 'version') ? null : aside
    let isAside = false
    try {
      removeDerived(data)
      moveEach(withSidecars(old, data), data, aside, renameSync)
      isAside = true
      moveEach(names, copy, data, renameSync)
      if (names.includes('identity.db')) endAllSignIns(data)
      await recordRestore(data, manifest, { movedTo, now })
    } catch (error) {
      removeDerived(data)
      // Until all of the old files are aside, what is there is theirs.
      const restored = isAside ? withSidecars(filesOf(data), data) : []
      for (const name of restored) rmSync(join(data, name))
      if (existsSync(aside)) moveEach(withSidecars(filesOf(aside), aside), aside, data, renameSync)
      rmSync(aside, { recursive: true, force: true })
      throw error
    }
    if (movedTo === null) rmSync(aside, { recursive: true, force: true })
    return { at: manifest.at, head: manifest.head, movedTo }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

async function recordRestore(
  data: string,
  { at, head }: Manifest,
  { movedTo, now }: { readonly movedTo: string | null; readonly now: Date },
): Promise<void> {
  using names = new Names(data)
  const ledger = Ledger.open({
    directory: data,
    hider: createHider(InstallationKey.at(data), names),
  })
  try {
    const detail = { backup: at, head, movedTo: movedTo !== null }
    await ledger.event({ atMs: now.getTime(), name: 'restore', detail })
  } finally {
    ledger.close()
  }
}

function readManifest(from: string): Manifest {
  const help = 'name a folder that `sluice backup` has made'
  if (!existsSync(join(from, MANIFEST)))
    throw new OperationError(`\`${from}\` is not a backup`, help)
  const value: unknown = attempt(() => JSON.parse(readFileSync(join(from, MANIFEST), 'utf8')))
  if (value === undefined)
    throw new OperationError(`\`${MANIFEST}\` in \`${from}\` is not readable`, help)
  const { version, at, files, head } = isObject(value) ? value : {}
  if (typeof version !== 'number' || !Array.isArray(files) || !isObject(head))
    throw new OperationError(`\`${MANIFEST}\` in \`${from}\` is not one`, help)
  if (version > DATA_VERSION)
    throw new OperationError(
      `the backup has version ${version}, this program knows up to ${DATA_VERSION}`,
      'restore it with the newer version',
    )
  const damaged = (what: string) =>
    new OperationError(`\`${MANIFEST}\` in \`${from}\` is damaged: ${what}`, 'use another backup')
  if (typeof at !== 'string' || typeof head.hash !== 'string' || typeof head.seq !== 'number')
    throw damaged('`at` or `head` is not as a backup writes it')
  return { version, at, head: { seq: head.seq, hash: head.hash }, files: files.map(readFile) }

  function readFile(entry: JsonValue, index: number): BackupFile {
    if (!isBackupFile(entry))
      throw damaged(`entry ${index} of \`files\` is not a name, a size and a digest`)
    return entry
  }
}

function isBackupFile(entry: unknown): entry is BackupFile {
  if (!isObject(entry)) return false
  const { name, bytes, sha256 } = entry
  return typeof name === 'string' && typeof bytes === 'number' && typeof sha256 === 'string'
}

/** The list and the files that are there are the same: a file taken off the list would be left out of the
 * restore, and no digest would tell. */
function checkNames(from: string, { files }: Manifest): void {
  const inside = new Set(filesOf(from))
  const refused = (message: string) => new OperationError(message, 'use another backup')
  const listed = new Set<string>()
  for (const { name } of files) {
    // A list that was tampered with must not write elsewhere.
    const odd = isAbsolute(name) || name.split(/[\\/]/).includes('..')
    if (odd || !inside.has(name)) throw refused(`the backup has no \`${name}\``)
    if (listed.has(name)) throw refused(`\`${MANIFEST}\` lists \`${name}\` twice`)
    listed.add(name)
  }
  for (const name of REQUIRED)
    if (!listed.has(name)) throw refused(`\`${MANIFEST}\` does not list \`${name}\``)
  for (const name of inside)
    if (!listed.has(name))
      throw refused(`the backup holds \`${name}\`, which \`${MANIFEST}\` does not list`)
}

/** Of the copy and not of the backup, which may change between the check and the copying. */
function checkCopy(copy: string, { files, head }: Manifest): void {
  for (const { name, bytes, sha256 } of files) {
    const is = describeFile(copy, name)
    if (is.bytes !== bytes || is.sha256 !== sha256)
      throw new OperationError(
        `\`${name}\` of the backup is not as it was copied`,
        'it was changed or is damaged: use another backup',
      )
  }
  const verification = verifyCopy(copy)
  const [problem] = verification.problems
  if (
    problem !== undefined ||
    verification.head.hash !== head.hash ||
    verification.head.seq !== head.seq
  )
    throw new OperationError(
      `the record of the backup does not fit together${problem ? `: ${problem.message}` : ''}`,
      'use another backup',
    )
}

function moveEach(
  names: readonly string[],
  from: string,
  to: string,
  move: (source: string, target: string) => void,
): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of names) {
    const target = join(to, name)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    move(join(from, name), target)
  }
}

function copyPrivately(source: string, target: string): void {
  copyFileSync(source, target)
  chmodSync(target, 0o600)
}

/** With what SQLite keeps beside a database. The lock of the directory stays where it is. */
function withSidecars(names: readonly string[], directory: string): string[] {
  return names.flatMap((name) =>
    ['', '-wal', '-shm']
      .map((end) => name + end)
      .filter((each) => existsSync(join(directory, each))),
  )
}

/** What can be made again. */
function removeDerived(data: string): void {
  for (const file of ['ledger-index.db', 'ledger.reserve'])
    for (const end of ['', '-wal', '-shm']) rmSync(join(data, file + end), { force: true })
}
