// Directories for tests, which leave none behind: for one test, and for all of a file.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A worker runs one file at a time, so these are those of the file that runs. */
const ofFile: string[] = []

/** Removed after the test that calls this. */
export function scratchDirectory(): string {
  const directory = makeDirectory()
  onTestFinished(() => remove(directory))
  return directory
}

/** Removed after the last hook of the file (seed.ts), so it may be made anywhere in it, and gates may still use it. */
export function fileScratchDirectory(): string {
  const directory = makeDirectory()
  ofFile.push(directory)
  return directory
}

export function removeFileScratch(): void {
  for (const directory of ofFile.splice(0)) remove(directory)
}

function makeDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'sluice-'))
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}
