// Puts a backup in the place of a data directory: only while no gate has it, only if every file is as
// it was copied and the record verifies. What was there before is moved aside, not deleted. Called
// under the directory's lock.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { isObject } from '../../core/json.ts'
import { Refused } from '../../core/refused.ts'
import { Ledger } from '../../ledger/ledger.ts'
import { describe, filesOf, MANIFEST, type Manifest, verified } from './backup.ts'
import { DATA_VERSION } from './data-version.ts'

export interface Restored {
  readonly at: string
  readonly head: Manifest['head']
  /** Where the files are that were there before; null where there were none. */
  readonly movedTo: string | null
}

export async function restoreBackup(from: string, data: string, now: Date): Promise<Restored> {
  const manifest = readManifest(from)
  checkFiles(from, manifest)
  const { head, problems } = verified(from)
  if (problems.length > 0 || head.hash !== manifest.head.hash)
    throw new Refused(
      `the record of the backup does not fit together${problems[0] ? `: ${problems[0].message}` : ''}`,
      'use another backup',
    )
  const movedTo = moveAside(data, now)
  for (const { name } of manifest.files) {
    const target = join(data, name)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    copyFileSync(join(from, name), target)
    chmodSync(target, 0o600)
  }
  const ledger = Ledger.open({ directory: data })
  try {
    const detail = { backup: manifest.at, head, movedTo: movedTo !== null }
    await ledger.event({ atMs: now.getTime(), name: 'restore', detail })
  } finally {
    ledger.close()
  }
  return { at: manifest.at, head, movedTo }
}

function readManifest(from: string): Manifest {
  const help = 'name a folder that `sluice backup` has made'
  if (!existsSync(join(from, MANIFEST))) throw new Refused(`\`${from}\` is no backup`, help)
  let value: unknown
  try {
    value = JSON.parse(readFileSync(join(from, MANIFEST), 'utf8'))
  } catch {
    throw new Refused(`\`${MANIFEST}\` in \`${from}\` is not readable`, help)
  }
  const { version, files, head } = isObject(value) ? value : {}
  if (typeof version !== 'number' || !Array.isArray(files) || !isObject(head))
    throw new Refused(`\`${MANIFEST}\` in \`${from}\` is not one`, help)
  if (version > DATA_VERSION)
    throw new Refused(
      `the backup has version ${version}, this program knows up to ${DATA_VERSION}`,
      'restore it with the newer version',
    )
  return value as unknown as Manifest
}

function checkFiles(from: string, { files }: Manifest): void {
  const inside = new Set(filesOf(from))
  for (const { name, bytes, sha256 } of files) {
    // A list that was tampered with must not write elsewhere.
    const odd = typeof name !== 'string' || isAbsolute(name) || name.split(/[\\/]/).includes('..')
    if (odd || !inside.has(name))
      throw new Refused(`the backup has no \`${name}\``, 'use another backup')
    const is = describe(from, name)
    if (is.bytes !== bytes || is.sha256 !== sha256)
      throw new Refused(
        `\`${name}\` of the backup is not as it was copied`,
        'it was changed or is damaged: use another backup',
      )
  }
}

/** Beside the directory, whose lock stays where it is. */
function moveAside(data: string, now: Date): string | null {
  const names = filesOf(data)
  for (const file of ['ledger-index.db', 'ledger.reserve'])
    for (const end of ['', '-wal', '-shm']) rmSync(join(data, file + end), { force: true })
  // A directory that was made for this has nothing but its version.
  if (names.every((name) => name === 'version')) return null
  const to = `${data}.before-${now.toISOString().replace(/[:.]/g, '-')}`
  for (const name of names) {
    for (const end of ['', '-wal', '-shm']) {
      const [source, target] = [join(data, name + end), join(to, name + end)]
      if (!existsSync(source)) continue
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      renameSync(source, target)
    }
  }
  return to
}
