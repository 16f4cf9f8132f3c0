// The mark of a gate's processes: hard limits of file locks and of resident memory (RLIMIT_LOCKS, RLIMIT_RSS), which
// the kernel enforces no more. They are inherited, and without CAP_SYS_RESOURCE only lowered. Of two gates each has the
// lower value of one of the two, so a process of one is never at or below the mark of the other. Marks of a data
// directory are kept in `gate.mark` until the next boot, so that a later gate and the commands recognise orphans.

import { createHmac, randomInt } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../../store/files/boot-id.ts'
import { PROCESS_MARKS_MAX } from './limits.ts'

const FILE = 'gate.mark'
/** Limits above it count as this one. Far above everything that a program could ask for. */
const HIGHEST = 2 ** 52
/** How many marks there are for gates that nothing has marked, and for those that a marked process started. */
const MARKS = 2 ** 44
const NESTED_MARKS = 2 ** 20

/** Hard limits: of a process, or those that a gate gives its processes. */
export interface ProcessMark {
  readonly locks: number
  readonly rss: number
}

/** Whether a process with these limits can have been started by the gate with this mark. */
export function isAtOrBelow(limits: ProcessMark, mark: ProcessMark): boolean {
  return limits.locks <= mark.locks && limits.rss <= mark.rss
}

export function isSameMark(one: ProcessMark, other: ProcessMark): boolean {
  return one.locks === other.locks && one.rss === other.rss
}

/** The mark that a process with these limits can take: one of `stored` if there is one that no other gate
 * under the same limits can have, so that orphans stay recognised. Gates of one cluster on a machine have one mark:
 * what one has started is refused by all. Undefined if the limits are too low for one. */
export function chooseMark(
  limits: ProcessMark,
  stored: readonly ProcessMark[],
  clusterKey?: string,
): ProcessMark | undefined {
  const isFirst = limits.locks >= HIGHEST && limits.rss >= HIGHEST
  const locks = Math.min(limits.locks, HIGHEST)
  const rss = Math.min(limits.rss, HIGHEST)
  const marks = isFirst ? MARKS : Math.min(NESTED_MARKS, Math.floor(Math.min(locks, rss) / 2))
  if (marks < 2) return undefined
  const place = (at: number): ProcessMark => ({ locks: locks - at, rss: rss - marks + at })
  if (clusterKey !== undefined) return place(placeInCluster(clusterKey, marks))
  // Of equal limits all marks have the same sum: of two, each is lower in one of the limits.
  const isPlace = (mark: ProcessMark) =>
    mark.locks < locks && mark.rss < rss && mark.locks + mark.rss === locks + rss - marks
  return (
    stored.find((mark) => isSameMark(mark, limits) || isPlace(mark)) ?? place(randomInt(1, marks))
  )
}

/** A number from 1 to `marks` - 1. */
function placeInCluster(key: string, marks: number): number {
  const digest = createHmac('sha256', key).update('mark of processes').digest()
  return 1 + (digest.readUIntBE(0, 6) % (marks - 1))
}

/** Of many, one that is above all of them: it recognises too many processes, never too few. */
export function addMark(stored: readonly ProcessMark[], mark: ProcessMark): readonly ProcessMark[] {
  if (stored.some((each) => isSameMark(each, mark))) return stored
  const all = [...stored, mark]
  if (all.length <= PROCESS_MARKS_MAX) return all
  return [
    {
      locks: Math.max(...all.map(({ locks }) => locks)),
      rss: Math.max(...all.map(({ rss }) => rss)),
    },
  ]
}

/** Empty if no gate of this directory has started processes since boot. */
export function readMarks(directory: string): readonly ProcessMark[] {
  try {
    const { boot, mark, marks } = JSON.parse(readFileSync(join(directory, FILE), 'utf8'))
    if (boot !== bootId()) return []
    // Earlier versions had one limit: every process at or below it counts.
    const pairs: unknown[][] = Array.isArray(marks) ? marks : [[mark, null]]
    return pairs.flatMap(([locks, rss]) =>
      Number.isSafeInteger(locks) && Number(locks) > 0
        ? [{ locks: Number(locks), rss: Number(rss ?? Number.POSITIVE_INFINITY) }]
        : [],
    )
  } catch {
    return []
  }
}

/** Throws where it cannot be written: then nothing may be started. */
export function writeMarks(directory: string, stored: readonly ProcessMark[]): void {
  const file = join(directory, FILE)
  const marks = stored.map(({ locks, rss }) => [locks, Number.isFinite(rss) ? rss : null])
  const mark = Math.max(...stored.map(({ locks }) => locks))
  writeFileSync(`${file}.partial`, JSON.stringify({ boot: bootId(), mark, marks }), { mode: 0o600 })
  renameSync(`${file}.partial`, file)
}

/** Whether this very process was started by a gate of the directory. */
export function isOwnChild(directory: string): boolean {
  const limits = hardLimitsOf('self')
  return limits !== undefined && readMarks(directory).some((mark) => isAtOrBelow(limits, mark))
}

export function hardLimitsOf(pid: number | 'self'): ProcessMark | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/limits`, 'latin1')
    const locks = /^Max file locks +\S+ +(\S+)/m.exec(text)?.[1]
    const rss = /^Max resident set +\S+ +(\S+)/m.exec(text)?.[1]
    return locks === undefined || rss === undefined
      ? undefined
      : { locks: toNumber(locks), rss: toNumber(rss) }
  } catch {
    return undefined
  }
}

function toNumber(limit: string): number {
  return Number(limit.replace('unlimited', 'Infinity'))
}
