// Replaces a file that people edit, whole or not at all: a crash or a full disk leaves no half of it.
// A link is followed and kept, and so is the mode.

import { randomBytes } from 'node:crypto'
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Written beside it first, under a name that nobody else can have put a link in the place of. */
export function writeWhole(file: string, text: string): void {
  const target = realpathSync(file)
  const name = `.${basename(target)}.${randomBytes(8).toString('hex')}.new`
  const beside = join(dirname(target), name)
  try {
    writeFileSync(beside, text, { flag: 'wx', mode: statSync(target).mode & 0o777, flush: true })
    renameSync(beside, target)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}
