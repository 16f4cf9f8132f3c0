// `npm run build` (and before `npm pack`): src -> dist, the command in few files, the images that
// guests run in, the console's page, then the JSON Schemas for editors.
// dist is removed first, so that nothing of an older build is published.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describeStep, ROOT, runStep } from './run-step.ts'

rmSync(join(ROOT, 'dist'), { recursive: true, force: true })

const steps: [name: string, command: string[]][] = [
  // The command refers to every room; tests are what `npm run check` compiles.
  ['compile', ['node_modules/typescript/bin/tsc', '-b', '--force', 'src/cli']],
  ['bundle', ['scripts/bundle.ts']],
  ['images', ['scripts/bake.ts']],
  ['console', ['scripts/build-console.ts']],
]
if (existsSync(join(ROOT, 'scripts', 'schema.ts'))) steps.push(['schema', ['scripts/schema.ts']])

for (const [name, command] of steps) {
  const result = await runStep(name, command)
  // On stderr: `npm pack --json` promises stdout to its own answer.
  console.error(`build: ${describeStep(result)}`)
  if (!result.passed) process.exit(1)
}
