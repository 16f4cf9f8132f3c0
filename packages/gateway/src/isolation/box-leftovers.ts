// What boxes leave on the disk: their folders in the data directory, and the few places that they made in a project so
// that these could be protected. Removed at the end of a box, and after a crash by the next gate or `sluice doctor`.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '@sluice/policy/structures/attempt'
import { listStrings } from '@sluice/policy/values/json'
import { removeMade } from './box.ts'

const MADE_FILE = 'made.json'

/** Where boxes are in a data directory, one folder for each. */
export function boxesFolder(data: string): string {
  return join(data, 'boxes')
}

/** Before the places are used: what a crash leaves has to be known. */
export function noteMade(folder: string, made: readonly string[]): void {
  writeFileSync(join(folder, MADE_FILE), JSON.stringify(made), { mode: 0o600 })
}

/** Boxes whose gate has crashed. */
export function findLeftovers(data: string): string[] {
  const folder = boxesFolder(data)
  return attempt(() => readdirSync(folder), [])
    .map((name) => join(folder, name))
    .filter((box) => !isRunning(box))
}

/** Also true if another process has its number by now: its folder is then removed a time later. */
function isRunning(folder: string): boolean {
  const pid = attempt(() => readFileSync(join(folder, 'pid'), 'utf8').trim(), '')
  return /^\d+$/.test(pid) && existsSync(`/proc/${pid}`)
}

/** Removes a box that has ended, and of what it made in the project all but `inUse`, which other boxes need. */
export function removeBox(folder: string, inUse: ReadonlySet<string> = new Set()): void {
  const text = attempt(() => readFileSync(join(folder, MADE_FILE), 'utf8'), '[]')
  const made = listStrings(attempt(() => JSON.parse(text), []))
  removeMade(made.filter((path) => !inUse.has(path)))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  attempt(remove)
  if (!existsSync(folder)) return
  // Caches of some tools are folders that their owner may not write. chmod does not follow links that it finds.
  attempt(() => execFileSync('chmod', ['-R', 'u+rwX', folder], { stdio: 'ignore' }))
  attempt(remove)
}
