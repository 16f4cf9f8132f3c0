// Changes a file that another program owns and may be writing this very moment: read, change, write
// beside it, look whether it is still what was read, rename. If another program writes in between, it starts
// again with that text. Links are followed and kept, the mode stays.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from '@sluice/policy/structures/attempt'
import { ClientError } from './errors.ts'
import { CLIENT_FILE_BYTES_MAX, LOCK_STALE_MS, WRITE_PAUSE_MS, WRITE_TRIES_MAX } from './limits.ts'

/** What is in a file, once its owner has written it whole. Undefined if there is no file. */
export async function readClientFile(
  file: string,
  check: (text: string) => void,
): Promise<string | undefined> {
  for (let left = WRITE_TRIES_MAX; ; left--) {
    try {
      const text = decode(file, readFileSync(file))
      check(text)
      // Empty is what a file is between being cut and being written.
      if (text.trim() === '' && left > 0 && (await grows(file))) continue
      return text
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
      // A file cut short is one that is just being written.
      const mayMend = error instanceof ClientError && error.code === 'CLIENT_FILE'
      if (!mayMend) throw unreadable(file, error as Error)
      if (left === 0 || !(await grows(file))) throw error
    }
  }
}

/** `change` gives the new text, or undefined if nothing is to be done; it may be asked again, with
 * what somebody else has written meanwhile. True if the file was changed. */
export async function changeFile(
  file: string,
  change: (text: string) => string | undefined,
): Promise<boolean> {
  const target = realpathSync(file)
  for (let left = WRITE_TRIES_MAX; left > 0; left--) {
    const unlock = takeLock(target)
    try {
      const done = unlock === undefined ? undefined : tryOnce(target, change)
      if (done !== undefined) return done
    } catch (error) {
      throw unwritable(file, error as Error)
    } finally {
      unlock?.()
    }
    await sleep(WRITE_PAUSE_MS)
  }
  throw new ClientError(
    'CLIENT_BUSY',
    `\`${file}\` is written by somebody else all the time`,
    'end the program that owns it, and do it again',
  )
}

/** Undefined: somebody else was faster. */
function tryOnce(
  target: string,
  change: (text: string) => string | undefined,
): boolean | undefined {
  // Held open: what is written in place while we rename goes to this file and is seen.
  const old = openSync(target, 'r')
  // A name that nobody can have put a link in the place of: a project's folder may be a stranger's.
  const fresh = join(dirname(target), `.${basename(target)}.${randomBytes(8).toString('hex')}`)
  try {
    const before = readAll(old)
    // Cut, and not yet written: an entry that is not in it is not gone.
    if (before.length === 0) return undefined
    const text = changed(decode(target, before), change)
    if (text === 'broken') return undefined
    if (text === undefined) return false
    writeLike(old, fresh, text.text)
    if (!readFileSync(target).equals(before)) return undefined
    if (!renamed(fresh, target)) return undefined
    const theirs = lateText(old, before, change)
    if (theirs === undefined) return true
    // Their text is in the file we renamed over: it goes on from there.
    writeLike(old, fresh, theirs)
    renameSync(fresh, target)
    return true
  } finally {
    rmSync(fresh, { force: true })
    closeSync(old)
  }
}

function changed(
  text: string,
  change: (text: string) => string | undefined,
): { readonly text: string } | undefined | 'broken' {
  try {
    const after = change(text)
    return after === undefined ? undefined : { text: after }
  } catch (error) {
    if (error instanceof ClientError && error.code === 'CLIENT_FILE') return 'broken'
    throw error
  }
}

/** What somebody wrote into the old file while we renamed, with our change in it. Where they are just
 * writing they are waited for; what never becomes whole is not taken. */
function lateText(
  old: number,
  before: Buffer,
  change: (text: string) => string | undefined,
): string | undefined {
  for (let round = 0; round < LATE_ROUNDS_MAX; round++) {
    const late = readAll(old)
    if (late.equals(before)) return undefined
    const theirs = decodeOr(late)
    const ours = theirs === undefined || theirs.trim() === '' ? 'broken' : changed(theirs, change)
    if (ours !== 'broken') return ours?.text ?? theirs
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LATE_PAUSE_MS)
  }
  return undefined
}

const LATE_ROUNDS_MAX = 50
const LATE_PAUSE_MS = 10

/** On Windows a file that somebody has open cannot be replaced: that passes. */
function renamed(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (process.platform === 'win32' && /^(?:EPERM|EBUSY|EACCES)$/.test(code)) return false
    throw error
  }
}

/** With the mode, and where we may the owner, of the file it takes the place of. */
function writeLike(old: number, fresh: string, text: string): void {
  const { mode, uid, gid } = fstatSync(old)
  // Nobody else's until it has the mode it is to have: it may hold keys.
  const descriptor = openSync(fresh, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
    try {
      fchownSync(descriptor, uid, gid)
    } catch {
      // Only root may give files away; the file stays ours then.
    }
    fchmodSync(descriptor, mode & 0o7777)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function readAll(descriptor: number): Buffer {
  const { size } = fstatSync(descriptor)
  const whole = Buffer.allocUnsafe(Math.min(size, CLIENT_FILE_BYTES_MAX + 1))
  let at = 0
  while (at < whole.length) {
    const count = readSync(descriptor, whole, at, whole.length - at, at)
    if (count === 0) break
    at += count
  }
  return whole.subarray(0, at)
}

function decode(file: string, bytes: Buffer): string {
  if (bytes.length > CLIENT_FILE_BYTES_MAX)
    throw new ClientError(
      'CLIENT_FILE',
      `\`${file}\` has more than ${CLIENT_FILE_BYTES_MAX} bytes`,
      'no client needs so much: look what is in it',
    )
  const text = decodeOr(bytes)
  if (text !== undefined) return text
  throw new ClientError('CLIENT_FILE', `\`${file}\` is not UTF-8`, 'save it as UTF-8')
}

function decodeOr(bytes: Buffer): string | undefined {
  return attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
}

/** Claude Code takes a folder beside its file as a lock; so do we, and wait for it. */
function takeLock(target: string): (() => void) | undefined {
  if (basename(target) !== '.claude.json') return () => {}
  const lock = `${target}.lock`
  try {
    mkdirSync(lock)
    return () => {
      try {
        rmdirSync(lock)
      } catch {
        // Somebody took it for stale; it is gone either way.
      }
    }
  } catch (error) {
    // A folder that cannot be written: the write itself fails, with its reason.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return () => {}
    const { mtimeMs } = statSync(lock, { throwIfNoEntry: false }) ?? { mtimeMs: Number.NaN }
    // One from the future was touched before the clock was set back.
    const isStale = Math.abs(Date.now() - mtimeMs) > LOCK_STALE_MS
    return isStale ? () => {} : undefined
  }
}

/** A program that was stopped in the middle of writing goes on within a second, or never. */
const GROWS_ROUNDS_MAX = 40

async function grows(file: string): Promise<boolean> {
  const stamp = () => {
    const now = statSync(file, { throwIfNoEntry: false })
    return now === undefined ? '' : `${now.mtimeMs} ${now.size} ${now.ino}`
  }
  const before = stamp()
  for (let round = 0; round < GROWS_ROUNDS_MAX; round++) {
    await sleep(WRITE_PAUSE_MS)
    if (stamp() !== before) return true
  }
  return false
}

function unreadable(file: string, error: Error): Error {
  return fileError(`\`${file}\` cannot be read`, error, 'look at it')
}

function unwritable(file: string, error: Error): Error {
  const help = 'check owner and mode of the file and of its folder, and the space on the disk'
  return fileError(`\`${file}\` cannot be written`, error, help)
}

/** An error of the file system as one of this module; others stay as they are. */
function fileError(what: string, error: Error, help: string): Error {
  if (error instanceof ClientError || (error as NodeJS.ErrnoException).code === undefined)
    return error
  return new ClientError('CLIENT_FILE', `${what}: ${error.message}`, help)
}
