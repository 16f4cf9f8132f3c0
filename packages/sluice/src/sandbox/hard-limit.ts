// The hard limit: code that runs longer than the wall clock allows is stopped, also inside a
// WebAssembly loop that never polls. Works in any thread, for some 30 µs a call. Whatever was
// stopped is in an unknown state: the caller throws its instance away. A thread's watchdog sees from
// outside when even this does not come back.

import { Script } from 'node:vm'
import { SandboxError } from './errors.ts'
import { WATCHDOG_GRACE_MS } from './limits.ts'
import { readMonotonicMs } from './monotonic-clock.ts'

const SLOT = 'sluice.sandbox.task'
const held = globalThis as unknown as Record<string, unknown>
const script = new Script(`globalThis[${JSON.stringify(SLOT)}]()`)

/** Shared with the watchdog: until when the call that is running has time, in its own ms; 0: none. */
let deadline: Float64Array | undefined

export function watchCalls(cell: Float64Array): void {
  deadline = cell
}

/**
 * The same limit, enforced from outside where a watchdog looks at this thread: it ends the thread
 * instead of the call. For cores of ours, which are counted and never run code of others: the clock
 * in here costs each call a thread of its own, a millisecond on a busy machine.
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
  const outer = held[SLOT]
  held[SLOT] = task
  if (deadline !== undefined) deadline[0] = readMonotonicMs() + 2 * timeoutMs + WATCHDOG_GRACE_MS
  try {
    return script.runInThisContext({ timeout: timeoutMs }) as Result
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new SandboxError('SANDBOX_TIMEOUT', `the guest was stopped after ${timeoutMs} ms`)
  } finally {
    held[SLOT] = outer
    if (deadline !== undefined) deadline[0] = 0
  }
}
