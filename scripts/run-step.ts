// Runs a tool as a child process with its output streamed, and times it. Used by `check`, `build`
// and `test`; children run on the Node that runs this file.

import { spawn } from 'node:child_process'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..')

export type StepResult = { name: string; passed: boolean; durationMs: number }

/** `command` starts with a JavaScript file, relative to the root of the repository. */
export async function runStep(name: string, command: readonly string[]): Promise<StepResult> {
  const began = performance.now()
  const passed = await new Promise<boolean>((resolve) => {
    const child = spawn(process.execPath, [...command], { cwd: ROOT, stdio: 'inherit' })
    child.on('error', (error) => {
      console.error(`could not start \`${command.join(' ')}\`: ${error.message}`)
      resolve(false)
    })
    child.on('exit', (code) => resolve(code === 0))
  })
  return { name, passed, durationMs: performance.now() - began }
}

export function describeStep({ name, passed, durationMs }: StepResult): string {
  return `${passed ? 'ok    ' : 'FAILED'} ${name} (${(durationMs / 1000).toFixed(1)} s)`
}
