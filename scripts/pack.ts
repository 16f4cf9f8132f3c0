// `npm run pack`: the npm packages, in dist/packages; `sluice` is all that another machine needs beside Node and the npm
// registry. A part of what `npm run release` builds.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { PUBLISHED } from './published.ts'
import { describeStep, ROOT, runStep } from './run-step.ts'

/** Builds the packages and writes their archives into a folder of `dist`, which is made; whether that worked. */
export async function packPackages(out: string): Promise<boolean> {
  const built = await runStep('build', ['scripts/build.ts'])
  console.error(describeStep(built))
  if (!built.passed) return false
  // The build has removed all of `dist`.
  mkdirSync(out, { recursive: true })
  for (const name of PUBLISHED)
    execFileSync('npm', ['pack', '--silent', '--pack-destination', out], {
      cwd: join(ROOT, 'dist', name),
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  return true
}

if (import.meta.main) {
  const out = join(ROOT, 'dist', 'packages')
  if (await packPackages(out)) {
    const files = readdirSync(out).map((name) => `./${relative(process.cwd(), join(out, name))}`)
    for (const file of files) console.log(file)
    const command = files.find((file) => /\/sluice-\d/.test(file))
    console.log(`install the command: npm install --global ${command}`)
  } else process.exitCode = 1
}
