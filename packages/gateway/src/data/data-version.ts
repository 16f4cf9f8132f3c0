// The version of a data directory as a whole: which files it has and how they belong together. Each
// database also has a version of its own. Checked by the process that takes the directory's lock: an older
// directory is migrated after a copy was made, a newer one is left alone.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '@sluice/ledger/store/errors'

/** What leads from each version to the next, the first from 1 to 2. */
export type DataStep = (directory: string) => void
const STEPS: readonly DataStep[] = []

export const DATA_VERSION = STEPS.length + 1
const FILE = 'version'

/** `copy` keeps the directory as it was before the first step. */
export function bringUpToDate(
  directory: string,
  copy: (version: number) => void,
  steps: readonly DataStep[] = STEPS,
): void {
  const newest = steps.length + 1
  const version = readVersion(directory, newest)
  if (version > newest)
    throw new StoreError(
      'STORE_NEWER',
      `${directory} has version ${version}, made by a newer sluice; this one knows up to ${newest}: start the newer one, or restore a backup`,
      'nothing was changed',
    )
  if (version < newest) copy(version)
  for (const [at, step] of steps.entries()) {
    if (at + 1 < version) continue
    step(directory)
    writeVersion(directory, at + 2)
  }
  if (!existsSync(join(directory, FILE))) writeVersion(directory, newest)
}

/** A directory without one is new, or from before there was a version: both are the first. */
function readVersion(directory: string, newest: number): number {
  const file = join(directory, FILE)
  if (!existsSync(file)) return existsSync(join(directory, 'ledger.db')) ? 1 : newest
  const text = readFileSync(file, 'utf8').trim()
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new StoreError(
    'STORE_CORRUPT',
    `${file} says \`${text.slice(0, 20)}\`, which is not a version of a directory`,
    'restore a backup',
  )
}

function writeVersion(directory: string, version: number): void {
  const file = join(directory, FILE)
  writeFileSync(`${file}.new`, `${version}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
