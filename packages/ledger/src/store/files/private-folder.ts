// The data directory belongs to the user who runs the gate, and no one else may rename or replace
// what is in it. Checked before anything is written there or trusted: the directory, a link to it,
// and every folder above it. If all pass, no other user can change them between the check and the
// use (TOCTOU). Windows has no such modes; there the check passes.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, parse, resolve } from 'node:path'
import { StoreError } from '../errors.ts'
import { FOLDER_LINKS_MAX } from '../limits.ts'
import { checkDataMark, checkEntries, writeMark } from './data-mark.ts'
import { storeFault } from './faults.ts'

const ROOT = 0
const GROUP_WRITE = 0o020
const OTHERS_WRITE = 0o002
const STICKY = 0o1000

/**
 * Creates the data directory if it is missing, for its owner only, and marks it as this user's.
 * Throws STORE_OWNER, STORE_FOREIGN or STORE_LINK.
 */
export function makePrivateFolder(directory: string): void {
  checkPrivateFolder(directory)
  try {
    makeFolders(resolve(directory))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST' && code !== 'ENOTDIR' && code !== 'ENOENT')
      throw storeFault(error, directory)
    const why = code === 'EEXIST' ? 'is a file' : `cannot be made: ${message}`
    throw new StoreError('STORE_IO', `\`${directory}\` ${why}`, 'use another directory: --data')
  }
  checkPrivateFolder(directory)
  checkDataMark(directory, { marksNew: true })
}

/** Not `recursive`: that never returns where a folder exists and nothing can be made in it, as in /proc. */
function makeFolders(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolders(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

/** The same checks for a directory that may not exist; creates nothing. */
export function checkDataFolder(directory: string): void {
  checkPrivateFolder(directory)
  if (existsSync(directory)) checkDataMark(directory, { marksNew: false })
}

/** Owner, modes and links only, for an existing directory that decides nothing. */
export function checkFolderEntries(directory: string): void {
  checkPrivateFolder(directory)
  checkEntries(directory)
}

/** Marks a directory that a person has confirmed to be theirs. */
export function trustDataFolder(directory: string): void {
  checkPrivateFolder(directory)
  writeMark(directory)
}

/**
 * Throws STORE_OWNER if another user could replace the directory or what is in it. A missing part
 * of the path has no owner.
 */
export function checkPrivateFolder(directory: string): void {
  const uid = process.getuid?.()
  if (uid === undefined) return
  checkPath(resolve(directory), uid, { isTarget: true, links: 0 })
}

interface Step {
  /** Whether it is the directory itself, and not one above it. */
  readonly isTarget: boolean
  readonly links: number
}

function checkPath(path: string, uid: number, { isTarget, links }: Step): void {
  const parent = dirname(path)
  // From the top: the content of a folder that others may change proves nothing.
  if (path !== parse(path).root) checkPath(parent, uid, { isTarget: false, links })
  const stats = readStats(path)
  if (stats === undefined) return
  if (stats.isSymbolicLink()) {
    if (stats.uid !== uid && stats.uid !== ROOT)
      throw refused(`\`${path}\` is a link that ${describeUser(stats.uid)} made`, 'remove the link')
    if (links >= FOLDER_LINKS_MAX)
      throw refused(`\`${path}\` is behind more than ${FOLDER_LINKS_MAX} links`, 'name the folder')
    return checkPath(resolve(parent, readlinkSync(path)), uid, { isTarget, links: links + 1 })
  }
  if (isTarget) checkTarget(path, stats, uid)
  else checkAbove(path, stats, uid)
}

function checkTarget(path: string, stats: Stats, uid: number): void {
  if (stats.uid !== uid)
    throw refused(
      `the data directory \`${path}\` belongs to ${describeUser(stats.uid)}, not to you (user ${uid})`,
      'run it as that user, give the directory to this one (chown), or name another --data',
    )
  if (!stats.isDirectory() || (stats.mode & (GROUP_WRITE | OTHERS_WRITE)) === 0) return
  if (isOwnGroup(stats, uid)) return
  throw refused(
    `others may write to the data directory \`${path}\` (mode ${formatMode(stats)})`,
    `look at what is in it, then: chmod 700 ${path}`,
  )
}

function checkAbove(path: string, stats: Stats, uid: number): void {
  if (stats.uid !== uid && stats.uid !== ROOT)
    throw refused(
      `\`${path}\`, above the data directory, belongs to ${describeUser(stats.uid)}`,
      'name a --data in a folder of your own',
    )
  // In a folder with the sticky bit, such as /tmp, only the owner of an entry may rename it.
  if ((stats.mode & STICKY) !== 0 || (stats.mode & (GROUP_WRITE | OTHERS_WRITE)) === 0) return
  if (isOwnGroup(stats, uid)) return
  throw refused(
    `others may rename what is in \`${path}\`, above the data directory (mode ${formatMode(stats)})`,
    `chmod go-w ${path}, or name a --data in a folder that only you may write`,
  )
}

/** Writable for a group whose only member is the user, the default on many systems. */
function isOwnGroup(stats: Stats, uid: number): boolean {
  if ((stats.mode & OTHERS_WRITE) !== 0) return false
  // For root the group `root`: its members are administrators.
  if (uid === ROOT && stats.gid === 0) return true
  if (stats.gid !== process.getgid?.()) return false
  const { username } = userInfo()
  try {
    const lines = readFileSync('/etc/group', 'utf8').split('\n')
    const entry = lines.map((line) => line.split(':')).find(([, , gid]) => gid === `${stats.gid}`)
    const [name, , , members = ''] = entry ?? []
    return name === username && (members === '' || members === username)
  } catch {
    return false
  }
}

function readStats(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new StoreError('STORE_READ_ONLY', `\`${path}\`: ${(error as Error).message}`, HELP, error)
  }
}

const HELP = 'check owner and mode of the directory and its files'

function refused(message: string, help: string): StoreError {
  return new StoreError('STORE_OWNER', message, help)
}

function describeUser(uid: number): string {
  return uid === ROOT ? 'root' : `user ${uid}`
}

function formatMode({ mode }: Stats): string {
  return (mode & 0o7777).toString(8)
}
