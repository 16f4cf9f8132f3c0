// The key that shows that a record of moves is this user's own: 32 random bytes in the user's state
// folder, outside of every project. A folder that came from somebody else can bring a record, with any
// mode, but not this key.

import { createHmac, randomBytes } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ClientError } from './errors.ts'

const KEY_BYTES = 32

/** The MAC of a text; undefined where there is no key yet and none is to be made. */
export function signText(text: string, how: { readonly makesKey: boolean }): string | undefined {
  const folder = stateFolder()
  const file = join(folder, 'init.key')
  const key = readKey(file) ?? (how.makesKey ? makeKey(folder, file) : undefined)
  return key && createHmac('sha256', key).update(`sluice init record 1\n${text}`).digest('hex')
}

function stateFolder(): string {
  const { XDG_STATE_HOME, LOCALAPPDATA } = process.env
  if (process.platform === 'win32') return join(LOCALAPPDATA || homedir(), 'sluice')
  return join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'sluice')
}

function readKey(file: string): Buffer | undefined {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const isOwn = process.getuid === undefined || stats.uid === process.getuid()
  const isPrivate = process.platform === 'win32' || (stats.mode & 0o077) === 0
  const key = stats.isFile() && isOwn && isPrivate ? readFileSync(file) : undefined
  if (key?.length === KEY_BYTES) return key
  throw new ClientError(
    'CLIENT_RECORD',
    `the key \`${file}\` is not as \`sluice init\` writes it`,
    'remove it; records that were written with it have to be undone by hand',
  )
}

/** A link fails where the name is taken, so two processes end with the same key. */
function makeKey(folder: string, file: string): Buffer {
  const own = `${file}.${randomBytes(8).toString('hex')}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const key = randomBytes(KEY_BYTES)
    writeFileSync(own, key, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(own, file)
    return key
  } catch (error) {
    const made = readKey(file)
    if (made !== undefined) return made
    const why = (error as Error).message
    throw new ClientError(
      'CLIENT_RECORD',
      `\`${file}\` cannot be written: ${why}`,
      'check its folder',
    )
  } finally {
    rmSync(own, { force: true })
  }
}
