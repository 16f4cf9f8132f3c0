// Directories for the tests of the ledger, removed at the end of a test or a test file.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** For a whole test file, which removes it itself. */
export function freshDirectoryForAll(): string {
  return mkdtempSync(join(tmpdir(), 'sluice-ledger-'))
}

export function freshDirectory(): string {
  const directory = freshDirectoryForAll()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
