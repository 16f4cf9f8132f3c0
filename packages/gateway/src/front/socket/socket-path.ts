// Where the socket of a data directory is: for the gate that listens there, and for commands, which
// must not have to load the gate to find it. In the data directory, unless its path is too long for a
// socket; then in a fresh folder of mode 700 that a file of the data directory names. A name that
// others could compute, in a folder that others may write, would be anybody's to listen at.

import { hash } from 'node:crypto'
import {
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { checkPrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { attempt } from '@sluice/policy/structures/attempt'

/** Systems take about a hundred bytes. */
const PATH_BYTES_MAX = 100
const NAME = 'gate.sock'
/** In the data directory: says where the socket is instead. */
const POINTER = 'gate.sock.at'

/** Where a gate that holds the directory's lock is to listen. `dispose` leaves nothing of it. */
export function makeSocketPath(directory: string): { path: string; dispose: () => void } {
  if (process.platform === 'win32') return { path: pipeOf(directory), dispose() {} }
  const pointer = join(directory, POINTER)
  const remove = (): void => {
    const earlier = readPointer(directory)
    if (earlier === undefined) return
    rmSync(pointer, { force: true })
    removeFolder(dirname(earlier))
  }
  // Of a gate that was killed.
  remove()
  const path = join(directory, NAME)
  if (fits(path)) return { path, dispose() {} }
  const far = join(mkdtempSync(join(runtimeFolder(), 'sluice-')), NAME)
  writeFileSync(pointer, far, { mode: 0o600, flag: 'wx' })
  return { path: far, dispose: remove }
}

/** Where a command connects; undefined if there is no socket. Throws if another user could be listening
 * there: nothing may be sent then. */
export function findSocketPath(directory: string): string | undefined {
  if (process.platform === 'win32') return pipeOf(directory)
  checkPrivateFolder(directory)
  const path = readPointer(directory) ?? join(directory, NAME)
  const stats = look(path)
  if (stats === undefined) return undefined
  checkPrivateFolder(dirname(path))
  if (stats.isSocket() && stats.uid === process.getuid?.()) return path
  throw new Error(`the socket \`${path}\` is not yours alone: somebody else may listen there`)
}

function pipeOf(directory: string): string {
  return `\\\\.\\pipe\\sluice-${hash('sha256', directory).slice(0, 24)}`
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= PATH_BYTES_MAX
}

/** The user's own runtime folder if there is one, private and short enough; else that of temporary
 * files, which is everybody's, but has the sticky bit. */
function runtimeFolder(): string {
  const { XDG_RUNTIME_DIR: own = '' } = process.env
  const stats = look(own)
  const isPrivate = stats?.uid === process.getuid?.() && ((stats?.mode ?? 0) & 0o077) === 0
  if (stats?.isDirectory() && isPrivate && fits(join(own, 'sluice-XXXXXX', NAME))) return own
  const shared = fits(join(tmpdir(), 'sluice-XXXXXX', NAME)) ? tmpdir() : '/tmp'
  checkPrivateFolder(join(shared, 'sluice'))
  return shared
}

function readPointer(directory: string): string | undefined {
  try {
    const path = readFileSync(join(directory, POINTER), 'utf8')
    return basename(path) === NAME && /^sluice-\w{6}$/.test(basename(dirname(path)))
      ? path
      : undefined
  } catch {
    return undefined
  }
}

/** Only what a gate of this user makes is in it. */
function removeFolder(folder: string): void {
  if (look(folder)?.uid !== process.getuid?.()) return
  rmSync(join(folder, NAME), { force: true })
  try {
    rmdirSync(folder)
  } catch {
    // Something else is in it: not ours to remove.
  }
}

function look(path: string): Stats | undefined {
  return attempt(() => lstatSync(path))
}
