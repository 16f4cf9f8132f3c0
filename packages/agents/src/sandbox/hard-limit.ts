// The hard limit: the deadlines of the running call, which the watchdog of the thread (thread.ts) compares with the
// clocks. A call that exceeds one ends the thread, also inside a WebAssembly loop that never polls. Only threads that run
// guests have a watchdog.

import { readThreadCpuMs } from './cpu-clock.ts'
import { WATCHDOG_WALL_FACTOR } from './limits.ts'
import { readMonotonicMs } from './monotonic-clock.ts'

/** Places in the array that a thread shares with its watchdog. */
export const WATCH = {
  /** When the running call is over whatever it used, in ms of the clock of watchdogs; 0: there is no deadline. */
  wallUntilMs: 0,
  /** The request that is served. */
  request: 1,
  /** When the running call has used up its processor time, in ms of the thread's own; 0: no such deadline. */
  cpuUntilMs: 2,
  /** Before this, in ms of the clock of watchdogs, it cannot have used it up. */
  cpuFromMs: 3,
} as const
export const WATCH_CELLS = 4

let watch: Float64Array | undefined

export function watchCalls(cells: Float64Array): void {
  watch = cells
}

/** `withinMs` of processor time; a thread that is blocked, or waits for a core, has `WATCHDOG_WALL_FACTOR` times as long. */
export function runWithin<Result>(withinMs: number, task: () => Result): Result {
  if (watch === undefined) return task()
  const now = readMonotonicMs()
  watch[WATCH.cpuFromMs] = now + withinMs
  watch[WATCH.cpuUntilMs] = readThreadCpuMs() + withinMs
  watch[WATCH.wallUntilMs] = now + withinMs * WATCHDOG_WALL_FACTOR
  try {
    return task()
  } finally {
    watch[WATCH.wallUntilMs] = 0
    watch[WATCH.cpuUntilMs] = 0
  }
}
