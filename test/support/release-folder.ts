// The folder that `npm run release -- --dry-run` has built, for long runs that install from it as a stranger would.

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { readVersion } from '../../scripts/standalone.ts'
import { ROOT } from './modules.ts'

export interface ReleaseFolder {
  readonly folder: string
  readonly version: string
  /** The files for this machine. */
  readonly bundle: string
  readonly image: string
  readonly packages: readonly [sluice: string]
}

/** `--release DIR`, or dist/release of this clone. */
export function findRelease({ release = join(ROOT, 'dist/release') }: RunOptions): ReleaseFolder {
  const folder = resolve(String(release))
  if (!existsSync(join(folder, 'SHA256SUMS')))
    throw new Error(`\`${folder}\` has no release: run \`npm run release -- --dry-run\` first`)
  const version = readVersion(ROOT)
  const name = `sluice-${version}-${process.platform}-${process.arch}`
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  const find = (file: string): string => {
    if (sums.includes(`  ${file}\n`)) return join(folder, file)
    throw new Error(`\`${folder}\` has no \`${file}\``)
  }
  return {
    folder,
    version,
    bundle: find(`${name}.tar.gz`),
    image: find(`${name}-image.tar.gz`),
    packages: [find(`sluice-${version}.tgz`)],
  }
}
