// Runs programs as an agent's own code, one after the other in a code thread, and measures what they
// do to everything else. Used by the test here and by `npm run eval -- hostile`.

import { loadImage } from '../../../packages/agents/src/sandbox/load-image.ts'
import { Programs } from '../../../packages/agents/src/sandbox/programs.ts'

export interface Contained {
  readonly name: string
  readonly ms: number
  /** How it ended: `ended`, `failed`, `waits`, or the code of the sandbox. */
  readonly how: string
  readonly output: string
}

export async function runHostile(
  programs: Readonly<Record<string, string>>,
  limitMs: number,
  threads: number,
  wrap: (code: string) => string = (code) => code,
): Promise<Contained[]> {
  const pool = new Programs(await loadImage('program'), threads)
  try {
    // The first piece pays for the start of the thread, and proves that a good one works.
    const good = await Promise.all(
      Array.from({ length: threads }, () => runOne(pool, 'good', 'return 6 * 7', 60_000)),
    )
    if (good.some(({ output }) => !output.includes('42'))) throw new Error('a good program failed')
    const results: Contained[] = []
    const left = Object.entries(programs)
    const worker = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        results.push(await runOne(pool, next[0], wrap(next[1]), limitMs))
    }
    await Promise.all(Array.from({ length: threads }, worker))
    const after = await runOne(pool, 'good', 'return 6 * 7', 60_000)
    if (!after.output.includes('42')) throw new Error('a good program fails after the hostile ones')
    return results
  } finally {
    await pool.close()
  }
}

async function runOne(
  pool: Programs,
  name: string,
  code: string,
  limitMs: number,
): Promise<Contained> {
  const text = JSON.stringify({
    code,
    files: [{ path: 'a.txt', text: 'a' }],
    seed: name,
  })
  const began = performance.now()
  try {
    const limits = { nowMs: 0, polls: 50_000, timeoutMs: limitMs }
    const { output, usedMs } = await pool.run(name, { rest: () => undefined }, () => ({
      operation: 'start',
      text,
      ...limits,
    }))
    const { ended } = output
    const how = ended === null ? 'waits' : ended.error === undefined ? 'ended' : 'failed'
    return { name, ms: usedMs, how, output: JSON.stringify(output) }
  } catch (error) {
    const { code: how = 'unknown', message } = error as { code?: string; message: string }
    return { name, ms: performance.now() - began, how, output: message }
  }
}
