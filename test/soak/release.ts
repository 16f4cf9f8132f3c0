// `npm run soak -- release`: clones the repository twice at its revision, builds a release in each as a stranger would, and
// compares all files: their bytes are equal.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/modules.ts'

export function run(): number {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-release-'))
  try {
    const [one, two] = ['one', 'two'].map((name) => build(join(folder, name)))
    console.log(one)
    const isEqual = one === two
    console.log(isEqual ? 'both builds are equal' : `the second build differs:\n${two}`)
    return isEqual ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The checksums of a release that is built in a new clone. */
function build(clone: string): string {
  const began = performance.now()
  execFileSync('git', ['clone', '--quiet', ROOT, clone])
  execFileSync('npm', ['run', 'release', '--', '--dry-run'], { cwd: clone, stdio: 'inherit' })
  console.log(`clone, install and build: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  return readFileSync(join(clone, 'dist/release/SHA256SUMS'), 'utf8')
}
