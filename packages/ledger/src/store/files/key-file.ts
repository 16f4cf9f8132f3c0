// The file of a new key. `link` fails if the name exists, so that no process reads half a key or replaces that of
// another.

import { randomBytes } from 'node:crypto'
import { linkSync, rmSync, writeFileSync } from 'node:fs'

export const KEY_BYTES = 32

/** Throws EEXIST if another process was faster. */
export function createKeyFile(file: string): Buffer {
  const own = `${file}.${randomBytes(8).toString('hex')}`
  try {
    const key = randomBytes(KEY_BYTES)
    writeFileSync(own, key, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(own, file)
    return key
  } finally {
    rmSync(own, { force: true })
  }
}
