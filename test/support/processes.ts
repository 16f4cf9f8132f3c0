// A gate and the processes that it has started, as the system reports them: for tests that nothing is left,
// that nothing was started twice, and how much memory it took.

import { readFileSync } from 'node:fs'
import type { RunningGate } from './start-gate.ts'

export function childrenOf({ process }: Pick<RunningGate, 'process'>): number[] {
  const text = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number).filter(isAlive)
}

/** The most memory that the gate has had since it was started. */
export function peakMebibytes({ process: { pid } }: Pick<RunningGate, 'process'>): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024
}

/** A zombie is dead: it stays if no process reaps it. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

/** The children that run this program. */
export function running(gate: RunningGate, program: string): number[] {
  return childrenOf(gate).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program)
    } catch {
      return false
    }
  })
}
