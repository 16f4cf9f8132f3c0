// Runs one command of the real command line as a process and gives what it said.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../rooms.ts'

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export function sluice(args: readonly string[], env = process.env): Promise<Ran> {
  return new Promise((resolve) => {
    const command = [join(ROOT, 'bin', 'sluice.js'), ...args]
    const options = { env, maxBuffer: 64 * 1_048_576 }
    execFile(process.execPath, command, options, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 2
      resolve({ code, stdout, stderr })
    })
  })
}

/** With `--json`: the answer as a value. */
// biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
export async function sluiceJson(args: readonly string[]): Promise<any> {
  const { stdout, stderr } = await sluice([...args, '--json'])
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}
