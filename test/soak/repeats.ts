// `npm run soak -- repeats`: the tests that repeat something do it as often as they say, of which `npm test` does a
// quarter, and try a promise in each of its forms, of which `npm test` tries the first (test/support/runs.ts). `--times N`
// is N times as often; `SLUICE_SEED` sets other cases.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { ROOT, runStep } from '../../scripts/run-step.ts'

export async function run({ times }: RunOptions): Promise<number> {
  process.env.SLUICE_RUNS = String(times ?? 1)
  const tests = ['packages', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith('.test.ts') && repeats(file)),
  )
  const command = ['node_modules/vitest/vitest.mjs', 'run', ...tests, '--testTimeout=900000']
  const { passed } = await runStep('repeats', command)
  return passed ? 0 : 1
}

function repeats(file: string): boolean {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return /support\/(runs|counters-model|boxes|program-kills)\.ts'|from 'fast-check'/.test(text)
}
