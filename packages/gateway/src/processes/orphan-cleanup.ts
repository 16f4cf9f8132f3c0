// Process groups that a gate left behind because it and its watcher were killed at once: written by
// watcher.ts while they live, ended at the next start. Never a recycled pid: the leader must have
// started when the record says, and where it is gone the members must carry the gate's mark.

import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { bootId } from '@sluice/ledger/store/files/boot-id'
import { attempt } from '@sluice/policy/structures/attempt'
import { CHILD_VARIABLE } from './environment.ts'
import { LEFTOVERS_FILE_BYTES_MAX, LEFTOVERS_MAX } from './limits.ts'
import { endGroup, membersOf, readStat } from './process-group.ts'

export interface OrphanGroup {
  readonly pid: number
  /** When the leader started, as the system counts; empty where it does not tell. */
  readonly started: string
}

interface LeftoversFile {
  /** Start times and pids restart with every boot. */
  readonly boot: string
  readonly mark: string
  readonly groups: readonly OrphanGroup[]
  /** The watcher itself, should it not end with its gate. */
  readonly watcher?: OrphanGroup | undefined
}

export function writeOrphanFile(
  file: string,
  mark: string,
  groups: readonly OrphanGroup[],
  watcher?: OrphanGroup,
): void {
  const content: LeftoversFile = { boot: bootId(), mark, groups, watcher }
  const partial = `${file}.partial`
  writeFileSync(partial, JSON.stringify(content), { mode: 0o600 })
  renameSync(partial, file)
}

/** Ends what the file names and is still ours; removes the file. Says the leaders of what it ended. */
export async function cleanUpOrphans(file: string): Promise<number[]> {
  const content = readLeftovers(file)
  const ours =
    content !== undefined && content.boot === bootId()
      ? content.groups.filter((group) => isOurs(group, content.mark))
      : []
  const watcher = content?.watcher
  // It ends with its gate; one that hangs instead is of no use to anybody.
  const others =
    watcher !== undefined && readStat(watcher.pid)?.started === watcher.started ? [watcher] : []
  await Promise.all([...ours, ...others].map(({ pid }) => endGroup(pid)))
  rmSync(file, { force: true })
  return ours.map(({ pid }) => pid)
}

function isOurs({ pid, started }: OrphanGroup, mark: string): boolean {
  // Without start times nothing can be told from a recycled pid: left alone.
  if (started === '') return false
  const leader = readStat(pid)
  if (leader !== undefined) return leader.started === started
  return membersOf(pid).some((member) => hasMark(member, mark))
}

function hasMark(pid: number, mark: string): boolean {
  return attempt(
    () => readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${CHILD_VARIABLE}=${mark}`),
    false,
  )
}

/** A file that is missing, torn or not ours names nothing. */
function readLeftovers(file: string): LeftoversFile | undefined {
  try {
    if (statSync(file).size > LEFTOVERS_FILE_BYTES_MAX) return undefined
    const content = JSON.parse(readFileSync(file, 'utf8')) as Partial<LeftoversFile>
    const { boot, mark, groups, watcher } = content
    if (typeof boot !== 'string' || typeof mark !== 'string' || mark === '') return undefined
    if (!Array.isArray(groups) || groups.length > LEFTOVERS_MAX) return undefined
    const orphan = isLeftover(watcher) && watcher.started !== '' ? watcher : undefined
    return { boot, mark, groups: groups.filter(isLeftover), watcher: orphan }
  } catch {
    return undefined
  }
}

function isLeftover(value: unknown): value is OrphanGroup {
  const { pid, started } = (value ?? {}) as Partial<OrphanGroup>
  return Number.isSafeInteger(pid) && (pid ?? 0) > 1 && typeof started === 'string'
}
