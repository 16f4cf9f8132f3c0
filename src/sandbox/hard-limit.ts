// The hard limit: code that runs longer than the wall clock allows is stopped, also inside a
// WebAssembly loop that never polls. Works in any thread, for some 30 µs a call. Whatever was
// stopped is in an unknown state: the caller throws its instance away. A thread's watchdog sees from
// outside when even this does not come back.

import { Script } from 'node:vm'
import { SandboxError } from './errors.ts'

const SLOT = 'sluice.sandbox.task'
const held = globalThis as unknown as Record<string, unknown>
const script = new Script(`globalThis[${JSON.stringify(SLOT)}]()`)

/** Shared with the watchdog: until when the call that is running has time, in its own ms; 0: none. */
let deadline: Float64Array | undefined

export function watchCalls(cell: Float64Array): void {
  deadline = cell
}

export function withinMs<Result>(timeoutMs: number, task: () => Result): Result {
  const outer = held[SLOT]
  held[SLOT] = task
  if (deadline !== undefined) deadline[0] = Date.now() + 2 * timeoutMs
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
