// `npm run audit`: licences of everything that is installed with the published package, then known
// vulnerabilities (`npm audit`). Exit code 1 if a licence is not on the list, a vulnerability is
// found, or the registry could not be reached: an audit that did not run has not passed.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run-step.ts'

/** Licences that may be shipped with an Apache-2.0 product without further conditions. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
])

interface LockEntry {
  readonly version?: string
  readonly dev?: boolean
  readonly link?: boolean
  readonly optional?: boolean
}

interface LicenceReport {
  readonly checked: number
  readonly problems: readonly string[]
}

/** The licences of all packages that `npm install --omit=dev` installs. */
export function checkLicences(root: string): LicenceReport {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true,
  )
  const problems: string[] = []
  for (const [path, { optional }] of shipped) {
    const file = join(root, path, 'package.json')
    // An optional package may be for another platform.
    if (optional === true && !existsSync(file)) continue
    const licence = existsSync(file) ? readLicence(readFileSync(file, 'utf8')) : undefined
    if (licence === undefined) problems.push(`${path}: states no licence, or is not installed`)
    else if (!isAllowed(licence)) problems.push(`${path}: \`${licence}\` is not on the list`)
  }
  return { checked: shipped.length, problems }
}

function readLicence(manifest: string): string | undefined {
  const { license } = JSON.parse(manifest) as { license?: unknown }
  return typeof license === 'string' ? license : undefined
}

/** Whether an SPDX expression can be satisfied: one side of `OR`, both sides of `AND`. */
export function isAllowed(expression: string): boolean {
  const text = expression.trim()
  if (ALLOWED.has(text)) return true
  const inner = /^\((.*)\)$/s.exec(text)?.[1]
  if (inner !== undefined && !/[()]/.test(inner)) return isAllowed(inner)
  if (/[()]/.test(text)) return false
  if (text.includes(' OR ')) return text.split(' OR ').some(isAllowed)
  return text.includes(' AND ') && text.split(' AND ').every(isAllowed)
}

if (import.meta.main) {
  const { checked, problems } = checkLicences(ROOT)
  for (const problem of problems) console.error(`audit: ${problem}`)
  console.log(`audit: licences of ${checked} packages, ${problems.length} problems`)
  const audit = spawnSync('npm', ['audit', '--omit=dev'], { cwd: ROOT, stdio: 'inherit' })
  if (audit.status !== 0) console.error('audit: `npm audit` found something, or could not run')
  process.exitCode = problems.length === 0 && audit.status === 0 ? 0 : 1
}
