// Debian packages that the image is made of, and programs that tests need and Debian's stable release has in no
// installable version: fetched from Debian by the digests of deploy/image/debian.json. `npx node scripts/debian.ts`
// writes that file again with the newest versions of the release; the index it reads is signed by Debian.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { PLATFORMS, type Platform } from './node-binary.ts'
import { ROOT } from './run-step.ts'

const LOCK = join(ROOT, 'deploy/image/debian.json')
const MIRROR = 'http://deb.debian.org'
const RELEASE = 'trixie'
/** A later one wins if its version is newer. */
const SUITES = [`debian/dists/${RELEASE}`, `debian-security/dists/${RELEASE}-security`]
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
const ARCHITECTURES: Readonly<Record<Platform, string>> = {
  'linux-x64': 'amd64',
  'linux-arm64': 'arm64',
}
/** What Node needs, and what `isolation` of a stdio server needs. */
const IMAGE = [
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'bubblewrap',
  'libcap2',
  'libselinux1',
  'libpcre2-8-0',
]
/** For tests only. */
const TOOLS = ['kubectl']

export interface DebianPackage {
  readonly name: string
  readonly version: string
  /** Below the mirror. */
  readonly path: string
  readonly sha256: string
}

type Lock = Readonly<Record<Platform, { image: DebianPackage[]; tools: DebianPackage[] }>>

export function readDebianLock(platform: Platform): Lock[Platform] {
  return (JSON.parse(readFileSync(LOCK, 'utf8')) as Lock)[platform]
}

/** The file of a package. Kept for the next time. */
export function fetchDebian({ name, version, path, sha256 }: DebianPackage): string {
  const cache = join(ROOT, 'node_modules', '.cache', 'sluice-debian')
  const file = join(cache, `${sha256.slice(0, 16)}-${basename(path)}`)
  if (existsSync(file)) return file
  mkdirSync(cache, { recursive: true })
  const draft = `${file}.${process.pid}`
  try {
    download(path, draft)
  } catch (error) {
    const why = (error as Error).message
    throw new Error(
      `${MIRROR}/${path} was not fetched (${why}): Debian keeps only the newest ${name}, not ${version}; run \`npx node scripts/debian.ts\` for new versions`,
    )
  }
  const digest = createHash('sha256').update(readFileSync(draft)).digest('hex')
  if (digest !== sha256) {
    rmSync(draft)
    throw new Error(`${path} is not the package that is known: ${digest}, expected ${sha256}`)
  }
  renameSync(draft, file)
  return file
}

/** Unpacks packages into a folder. Their scripts are not run. */
export function unpackDebian(packages: readonly DebianPackage[], folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const each of packages) execFileSync('dpkg-deb', ['-x', fetchDebian(each), folder])
}

function download(path: string, file: string): void {
  const options = ['--fail', '--silent', '--show-error', '--max-time', '300', '--retry', '3']
  execFileSync('curl', [...options, '--output', file, `${MIRROR}/${path}`], { stdio: 'pipe' })
}

/** The newest version of each package. */
function resolve(platform: Platform, folder: string, names: readonly string[]): DebianPackage[] {
  const architecture = ARCHITECTURES[platform]
  const entries = SUITES.flatMap((suite) => readIndex(suite, architecture, folder))
  return names.map((name) => {
    const found = entries.filter((entry) => entry.name === name)
    const newest = found.reduce<DebianPackage | undefined>(
      (best, entry) => (best === undefined || isNewer(entry, best) ? entry : best),
      undefined,
    )
    if (newest === undefined) throw new Error(`Debian ${RELEASE} has no package \`${name}\``)
    return newest
  })
}

function isNewer(one: DebianPackage, other: DebianPackage): boolean {
  const args = ['--compare-versions', one.version, 'gt', other.version]
  try {
    execFileSync('dpkg', args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The list of packages of a suite. Its digest is in a file that Debian has signed. */
function readIndex(suite: string, architecture: string, folder: string): DebianPackage[] {
  const signed = join(folder, 'InRelease')
  download(`${suite}/InRelease`, signed)
  const release = execFileSync('gpgv', ['--quiet', '--keyring', KEYS, '--output', '-', signed], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const name = `main/binary-${architecture}/Packages.xz`
  const [, digest] = new RegExp(`^ ([0-9a-f]{64}) +\\d+ ${name}$`, 'm').exec(release) ?? []
  const list = join(folder, 'Packages.xz')
  download(`${suite}/${name}`, list)
  if (createHash('sha256').update(readFileSync(list)).digest('hex') !== digest)
    throw new Error(`${suite}/${name} is not the one that Debian has signed: try again later`)
  const text = execFileSync('xz', ['-dc', list], { encoding: 'utf8', maxBuffer: 2 ** 30 })
  const [root] = suite.split('/')
  return text.split('\n\n').flatMap((entry) => {
    const field = (key: string): string => new RegExp(`^${key}: (.+)$`, 'm').exec(entry)?.[1] ?? ''
    const [name, version, sha256] = [field('Package'), field('Version'), field('SHA256')]
    return name === '' ? [] : [{ name, version, path: `${root}/${field('Filename')}`, sha256 }]
  })
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-debian-'))
  try {
    const lock = PLATFORMS.map((platform) => [
      platform,
      { image: resolve(platform, folder, IMAGE), tools: resolve(platform, folder, TOOLS) },
    ])
    writeFileSync(LOCK, `${JSON.stringify(Object.fromEntries(lock), null, 2)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
