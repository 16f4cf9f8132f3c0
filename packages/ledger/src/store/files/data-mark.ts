// A data directory decides policy and approvers, so one that came with a cloned project or an
// archive must not be trusted. When sluice creates a directory it writes a mark into it: a MAC over
// its path with the user's key, which is outside of every project. Data without a valid mark is
// refused; owner, modes and times prove nothing, because an archive can contain all of them.

import { randomBytes } from 'node:crypto'
import {
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { StoreError } from '../errors.ts'
import { MARK_BYTES_MAX } from '../limits.ts'
import { storeFault } from './faults.ts'
import { isSigned, signText } from './user-key.ts'

/** The file in the data directory that holds the mark. */
const MARK_FILE = 'owner.mark'
/**
 * The operator's confirmation on machines without a terminal: paths of trusted data directories.
 */
const TRUST_VARIABLE = 'SLUICE_TRUST_DATA'

/** What a gate stores and trusts. Other files, such as a sluice.yaml, may exist before it. */
const STATE =
  /^(?:version|servers|servers\.json|agents\.lock|gate[.-].*|ledger.*)$|\.(?:db|key)(?:-\w+)?$/i

/**
 * Throws STORE_FOREIGN if the directory has data and this user's gate did not create it, STORE_LINK
 * if it contains anything but files, folders and sockets. Marks one without data if `marksNew`.
 */
export function checkDataMark(
  directory: string,
  { marksNew }: { readonly marksNew: boolean },
): void {
  const names = checkEntries(directory)
  const path = realpathSync(directory)
  if (isTrustedByOperator(path) || isMarked(path)) return
  if (!names.some((name) => STATE.test(name))) {
    if (marksNew) writeMark(path)
    return
  }
  // The mark is written before any data, so another process may have created both since the first
  // check.
  if (isMarked(path)) return
  const noHome =
    process.platform !== 'win32' && (process.env.HOME ?? '') === ''
      ? 'HOME is not set, and it says where your key is: set it, or '
      : ''
  throw new StoreError(
    'STORE_FOREIGN',
    `the data directory \`${path}\` was not made by you at this place: it may have come with the folder, and it decides policy and approvers`,
    `${noHome}move it away to start with a new one; if it is yours (from an older version, moved or copied), confirm it once in a terminal: sluice up --trust-data; without a terminal set ${TRUST_VARIABLE}=${path}`,
  )
}

/** Called after a person has confirmed that the directory is theirs. */
export function writeMark(directory: string): void {
  checkEntries(directory)
  const path = realpathSync(directory)
  const file = join(path, MARK_FILE)
  const own = `${file}.${randomBytes(8).toString('hex')}`
  const mac = signText('data directory', path)
  try {
    writeFileSync(own, `${mac}\n`, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(own, file)
  } catch (error) {
    rmSync(own, { force: true })
    throw storeFault(error, file)
  }
}

function isMarked(path: string): boolean {
  const file = join(path, MARK_FILE)
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined || !stats.isFile() || stats.size > MARK_BYTES_MAX) return false
  return isSigned('data directory', path, readFileSync(file, 'utf8').trim())
}

function isTrustedByOperator(path: string): boolean {
  return (process.env[TRUST_VARIABLE] ?? '')
    .split(delimiter)
    .some((one) => isAbsolute(one) && findRealPath(one) === path)
}

function findRealPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/**
 * The gate writes to fixed names, and a link there would redirect the write out of the directory. A
 * pipe would block it. Below `servers` are the working folders of servers, which own their content.
 */
export function checkEntries(directory: string): string[] {
  const names: string[] = []
  for (const parent of [directory, join(directory, 'servers')])
    for (const entry of listFolder(parent)) {
      if (!entry.isFile() && !entry.isDirectory() && !entry.isSocket())
        throw new StoreError(
          'STORE_LINK',
          `\`${join(parent, entry.name)}\` in the data directory is ${entry.isSymbolicLink() ? 'a link' : 'no ordinary file'}: writing to it could reach another file`,
          'look at where it leads, then remove it; to keep the data elsewhere, name that folder with `data:` or --data',
        )
      if (parent === directory) names.push(entry.name)
    }
  return names
}

function listFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw storeFault(error, folder)
  }
}
