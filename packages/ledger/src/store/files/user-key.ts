// The user's key: 32 random bytes in the user's state folder, outside of every project. It proves
// that a data directory or a move log was created by this user on this machine. A folder from
// someone else can contain any file with any mode, but not a MAC made with this key.

import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { StoreError } from '../errors.ts'
import { createKeyFile, KEY_BYTES } from './key-file.ts'

/** The purpose of a MAC; one made for one purpose is invalid for another. */
type Purpose = 'init record' | 'data directory'

/** The MAC of a text. Creates the key if it is missing. Throws STORE_USER_KEY. */
export function signText(purpose: Purpose, text: string): string {
  const [file] = userKeyFiles()
  if (file === undefined)
    throw new StoreError(
      'STORE_USER_KEY',
      'there is no place for your key: the home directory is not an absolute path',
      'set HOME, or XDG_STATE_HOME, to an absolute path',
    )
  return computeMac(readKey(file) ?? makeKey(file), purpose, text)
}

/** Whether a key of this user made the MAC. Throws STORE_USER_KEY if the key is not usable. */
export function isSigned(purpose: Purpose, text: string, mac: unknown): boolean {
  if (typeof mac !== 'string') return false
  const digest = (value: string) => hash('sha256', value, 'buffer')
  return userKeyFiles().some((file) => {
    const key = readKey(file)
    if (key === undefined) return false
    return timingSafeEqual(digest(computeMac(key, purpose, text)), digest(mac))
  })
}

function computeMac(key: Buffer, purpose: Purpose, text: string): string {
  return createHmac('sha256', key).update(`sluice ${purpose} 1\n${text}`).digest('hex')
}

/**
 * Where the keys of this user may be; new ones are made in the first place. Most MCP clients start servers
 * without XDG_STATE_HOME, so a gate that one of them started has its key below the home directory. A relative
 * XDG_STATE_HOME is ignored, as its specification requires: it would be in the project.
 */
export function userKeyFiles(): string[] {
  const { XDG_STATE_HOME = '', LOCALAPPDATA } = process.env
  const states =
    process.platform === 'win32'
      ? [LOCALAPPDATA || homedir()]
      : [XDG_STATE_HOME, join(homedir(), '.local', 'state')].filter((path) => isAbsolute(path))
  return states.map((state) => join(state, 'sluice', 'init.key'))
}

function readKey(file: string): Buffer | undefined {
  const stats = lookAt(file)
  if (stats === undefined) return undefined
  const isOwn = process.getuid === undefined || stats.uid === process.getuid()
  const isPrivate = process.platform === 'win32' || (stats.mode & 0o077) === 0
  const key = stats.isFile() && isOwn && isPrivate ? readFileSync(file) : undefined
  if (key?.length === KEY_BYTES) return key
  throw new StoreError(
    'STORE_USER_KEY',
    `the key \`${file}\` is not as sluice writes it`,
    'remove it; records of `sluice init` are then undone by hand, and data directories confirmed again',
  )
}

function lookAt(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false })
  } catch (error) {
    const why = (error as Error).message
    throw new StoreError(
      'STORE_USER_KEY',
      `the user's key cannot be read: ${why}`,
      'check its folder',
      error,
    )
  }
}

function makeKey(file: string): Buffer {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return createKeyFile(file)
  } catch (error) {
    const made = readKey(file)
    if (made !== undefined) return made
    throw new StoreError(
      'STORE_USER_KEY',
      `the user's key \`${file}\` cannot be written: ${(error as Error).message}`,
      'check its folder, or set XDG_STATE_HOME to one that you may write and that is kept',
      error,
    )
  }
}
