// The highest mark that a gate of a data directory has given its processes since this machine booted
// (own-children.ts), kept in the file `gate.mark`: a later gate and the commands recognise by it what
// an earlier one left behind. After a boot none of those processes can be alive.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootId } from '../../store/files/boot-id.ts'

const FILE = 'gate.mark'

/** Undefined where no gate of this directory has started processes since boot. */
export function readMark(directory: string): number | undefined {
  try {
    const { boot, mark } = JSON.parse(readFileSync(join(directory, FILE), 'utf8'))
    return boot === bootId() && Number.isSafeInteger(mark) && mark > 0 ? mark : undefined
  } catch {
    return undefined
  }
}

/** Throws where it cannot be written: then nothing may be started. */
export function writeMark(directory: string, mark: number): void {
  const file = join(directory, FILE)
  writeFileSync(`${file}.partial`, JSON.stringify({ boot: bootId(), mark }), { mode: 0o600 })
  renameSync(`${file}.partial`, file)
}

/** Whether this very process was started by a gate of the directory. */
export function isOwnChild(directory: string): boolean {
  const limit = hardLimitOf('self')
  return limit !== undefined && limit <= (readMark(directory) ?? 0)
}

export function hardLimitOf(pid: number | 'self'): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/limits`, 'latin1')
    const hard = /^Max file locks +\S+ +(\S+)/m.exec(text)?.[1]
    return hard === undefined ? undefined : Number(hard.replace('unlimited', 'Infinity'))
  } catch {
    return undefined
  }
}
