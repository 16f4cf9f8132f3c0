// `npm run check`: format and lint, types and module boundaries, dead code. Every step runs even if an earlier
// one failed; exit code 1 if any did. scripts/test.ts calls runChecks and counts each step as one
// test.

import { describeStep, runStep, type StepResult } from './run-step.ts'

/** The step that leaves all packages compiled in `dist`. */
export const COMPILING = 'types'

const STEPS: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['format and lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings']],
  // --force: an incremental build has reported stale results. With threads, each checks again what it shares with the others.
  [COMPILING, ['node_modules/typescript/bin/tsc', '-b', '--force', '--singleThreaded']],
  ['dead code', ['node_modules/knip/bin/knip.js', '--no-config-hints']],
  ['size', ['scripts/size.ts']],
]

export async function runChecks(): Promise<StepResult[]> {
  const results: StepResult[] = []
  for (const [name, command] of STEPS) {
    const result = await runStep(name, command)
    console.log(`check: ${describeStep(result)}`)
    results.push(result)
  }
  return results
}

if (import.meta.main) {
  const results = await runChecks()
  process.exitCode = results.every((result) => result.passed) ? 0 : 1
}
