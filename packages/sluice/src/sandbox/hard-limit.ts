// The hard limit: stops code that exceeds its wall-clock timeout, also inside a WebAssembly loop
// that never polls. Works in any thread, for about 30 µs a call. Stopped code is in an unknown
// state: the caller discards its instance. If even this hangs, the watchdog of the thread detects
// it from outside.

import { Script } from 'node:vm'
import { SandboxError } from './errors.ts'
import { WATCHDOG_GRACE_MS } from './limits.ts'
import { readMonotonicMs } from './monotonic-clock.ts'

const TASK_KEY = 'sluice.sandbox.task'
const globals = globalThis as unknown as Record<string, unknown>
const script = new Script(`globalThis[${JSON.stringify(TASK_KEY)}]()`)

/** Shared with the watchdog: the deadline of the running call, in ms of its own clock; 0: none. */
let deadline: Float64Array | undefined

export function watchCalls(cell: Float64Array): void {
  deadline = cell
}

/**
 * The same limit, enforced by the watchdog of this thread: it ends the thread instead of the call.
 * For cores of ours, which are counted and never run foreign code: the timer in here costs each
 * call a separate thread, a millisecond on a busy machine.
 */
export function runWatched<Result>(timeoutMs: number, task: () => Result): Result {
  if (deadline === undefined) return runWithTimeout(timeoutMs, task)
  deadline[0] = readMonotonicMs() + 2 * timeoutMs + WATCHDOG_GRACE_MS
  try {
    return task()
  } finally {
    deadline[0] = 0
  }
}

export function runWithTimeout<Result>(timeoutMs: number, task: () => Result): Result {
  const outer = globals[TASK_KEY]
  globals[TASK_KEY] = task
  if (deadline !== undefined) deadline[0] = readMonotonicMs() + 2 * timeoutMs + WATCHDOG_GRACE_MS
  try {
    return script.runInThisContext({ timeout: timeoutMs }) as Result
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new SandboxError('SANDBOX_TIMEOUT', `the guest was stopped after ${timeoutMs} ms`)
  } finally {
    globals[TASK_KEY] = outer
    if (deadline !== undefined) deadline[0] = 0
  }
}
