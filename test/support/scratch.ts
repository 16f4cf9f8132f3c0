// A directory for one test, removed after it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export function scratchDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}
