// Runs one command of the real command line and returns its output. Inside the test's process,
// which is many times cheaper than a separate one; so one at a time.

import { main } from '../../packages/cli/src/main.ts'

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

/** `onText` gets all of stdout so far, whenever there is more. */
export async function sluice(
  args: readonly string[],
  onText: (stdout: string) => void = () => {},
): Promise<Ran> {
  const output = { stdout: '', stderr: '' }
  const { stdout, stderr } = process
  const originals = { stdout: stdout.write, stderr: stderr.write }
  const hear = (name: 'stdout' | 'stderr') => (chunk: string | Uint8Array) => {
    output[name] += String(chunk)
    onText(output.stdout)
    return true
  }
  stdout.write = hear('stdout')
  stderr.write = hear('stderr')
  try {
    return { code: await main(args), ...output }
  } finally {
    stdout.write = originals.stdout
    stderr.write = originals.stderr
    for (const stream of [stdout, stderr]) {
      const [last] = stream.listeners('error').slice(-1)
      if (last !== undefined) stream.off('error', last as () => void)
    }
  }
}

/** With `--json`: the result as a value. */
// biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
export async function sluiceJson(args: readonly string[]): Promise<any> {
  const { stdout, stderr } = await sluice([...args, '--json'])
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}
