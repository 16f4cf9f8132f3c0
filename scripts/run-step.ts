// Runs a tool as a child process with its output streamed, and times it. Used by `check`, `build`
// and `test`; children run on the Node that runs this file.

import { spawn } from 'node:child_process'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')

const LIMITS = {
  /** The longest step, the tests, takes a third of this on a slow machine: after it a step hangs. */
  stepMs: 40 * 60_000,
  /** What a step that has sent its result may still take to end. */
  endMs: 2 * 60_000,
}

export type StepResult = { name: string; passed: boolean; durationMs: number }

/** `command` starts with a JavaScript file, relative to the root of the repository. A step may send whether it
 * passed: that counts if it does not end by itself afterwards, which native modules have prevented. */
export async function runStep(
  name: string,
  command: readonly string[],
  limits = LIMITS,
): Promise<StepResult> {
  const began = performance.now()
  const passed = await new Promise<boolean>((resolve) => {
    const child = spawn(process.execPath, [...command], {
      cwd: ROOT,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    const endAfter = (ms: number, result: boolean): NodeJS.Timeout =>
      setTimeout(() => {
        const seconds = Math.round((performance.now() - began) / 1000)
        console.error(`${name}: killed after ${seconds} s because it did not end by itself`)
        child.kill('SIGKILL')
        resolve(result)
      }, ms)
    let timer = endAfter(limits.stepMs, false)
    child.on('message', (result) => {
      clearTimeout(timer)
      timer = endAfter(limits.endMs, result === true)
    })
    child.on('error', (error) => {
      console.error(`could not start \`${command.join(' ')}\`: ${error.message}`)
      resolve(false)
    })
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code === 0)
    })
  })
  return { name, passed, durationMs: performance.now() - began }
}

export function describeStep({ name, passed, durationMs }: StepResult): string {
  return `${passed ? 'ok    ' : 'FAILED'} ${name} (${(durationMs / 1000).toFixed(1)} s)`
}
