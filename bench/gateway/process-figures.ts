// Resource usage of a process, as Linux reports it: CPU time of all its threads in nanoseconds (the
// ticks of /proc/PID/stat are too coarse for short turns), and memory. NaN on other systems.

import { readdirSync, readFileSync } from 'node:fs'

/** Without ended threads: none end while a gateway serves. */
export function cpuUs(pid: number): number {
  try {
    const tasks = `/proc/${pid}/task`
    return readdirSync(tasks).reduce((sum, thread) => {
      const [ranNs = ''] = readFileSync(`${tasks}/${thread}/schedstat`, 'latin1').split(' ')
      return sum + Number(ranNs) / 1_000
    }, 0)
  } catch {
    return Number.NaN
  }
}

export function rssMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_024
  } catch {
    return Number.NaN
  }
}
