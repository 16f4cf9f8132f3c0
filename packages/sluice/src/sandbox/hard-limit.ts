// The hard limit: the deadline of the running call, which the watchdog of the thread (thread.ts)
// compares with the clock. A call that exceeds it ends the thread, also inside a WebAssembly loop
// that never polls. Only threads that run guests have a watchdog.

import { readMonotonicMs } from './monotonic-clock.ts'

/** Shared with the watchdog: the deadline of the running call, in ms of its own clock; 0: none. */
let deadline: Float64Array | undefined

export function watchCalls(cell: Float64Array): void {
  deadline = cell
}

export function runWatched<Result>(withinMs: number, task: () => Result): Result {
  if (deadline === undefined) return task()
  deadline[0] = readMonotonicMs() + withinMs
  try {
    return task()
  } finally {
    deadline[0] = 0
  }
}
