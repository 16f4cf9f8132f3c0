// CPU time of this process and of the children that it has waited for, theirs included, as Linux counts it.

import { readFileSync } from 'node:fs'

/** USER_HZ, which is the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** NaN on other systems. */
export function readCpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    // The name of the program, in parentheses, may have spaces. Then utime, stime, cutime and cstime are the 12th on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_PER_SECOND
  } catch {
    return Number.NaN
  }
}
