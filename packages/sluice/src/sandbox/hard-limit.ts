// The hard limit: ends code that exceeds its wall-clock timeout, also inside a WebAssembly loop
// that never polls. In a thread that runs guests the watchdog of the thread ends it from outside.
// Elsewhere a timer does, which starts a thread: 0.15 ms of CPU a call, and much more on a busy
// machine. Stopped code is in an unknown state: the caller discards its instance.

import { Script } from 'node:vm'
import { SandboxError } from './errors.ts'
import { readMonotonicMs } from './monotonic-clock.ts'

const TASK_KEY = 'sluice.sandbox.task'
const globals = globalThis as unknown as Record<string, unknown>
const script = new Script(`globalThis[${JSON.stringify(TASK_KEY)}]()`)

/** Shared with the watchdog: the deadline of the running call, in ms of its own clock; 0: none. */
let deadline: Float64Array | undefined

export function watchCalls(cell: Float64Array): void {
  deadline = cell
}

/** `graceMs` is added to twice the timeout before the watchdog ends this thread. */
export function runWatched<Result>(timeoutMs: number, graceMs: number, task: () => Result): Result {
  if (deadline === undefined) return runWithTimeout(timeoutMs, task)
  deadline[0] = readMonotonicMs() + 2 * timeoutMs + graceMs
  try {
    return task()
  } finally {
    deadline[0] = 0
  }
}

function runWithTimeout<Result>(timeoutMs: number, task: () => Result): Result {
  const outer = globals[TASK_KEY]
  globals[TASK_KEY] = task
  try {
    return script.runInThisContext({ timeout: timeoutMs }) as Result
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw timedOut(timeoutMs)
  } finally {
    globals[TASK_KEY] = outer
  }
}

export function timedOut(timeoutMs: number): SandboxError {
  return new SandboxError('SANDBOX_TIMEOUT', `the guest was stopped after ${timeoutMs} ms`)
}
