// `npm run bundle -- --platform linux-x64|linux-arm64`: the product with Node inside, as a tarball that runs
// on a machine without Node. Dependencies are copied as package-lock.json has them installed here; none of
// them is compiled for a platform.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { compress, sha256Of, writeTar } from './archive.ts'
import { fetchNode, NODE_VERSION, PLATFORMS, type Platform } from './node-binary.ts'
import { describeStep, ROOT, runStep } from './run-step.ts'

/** Uses no other program unless it was called through a link: it has to run with an empty PATH. */
const LAUNCHER = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  target=
  for readlink in readlink /usr/bin/readlink /bin/readlink; do
    target=$("$readlink" "$self" 2>/dev/null) && break
  done
  case $target in
    '')
      echo "sluice: the link $self cannot be followed, because there is no readlink: call the file it leads to" >&2
      exit 1
      ;;
    /*) self=$target ;;
    *) self=\${self%/*}/$target ;;
  esac
done
case $self in
  */*) home=\${self%/*}/.. ;;
  *) home=.. ;;
esac
exec "$home/lib/node" "$home/lib/sluice/bin/sluice.js" "$@"
`

export interface StandaloneOptions {
  /** A repository that is built: `dist`, `node_modules`, `package-lock.json`. */
  readonly root: string
  readonly target: string
  readonly node: string
}

/** Puts `bin/sluice` and `lib` together. */
export function assembleStandalone({ root, target, node }: StandaloneOptions): void {
  rmSync(target, { recursive: true, force: true })
  const home = join(target, 'lib', 'sluice')
  cpSync(join(root, 'dist', 'sluice'), home, { recursive: true })
  for (const path of listShipped(root))
    cpSync(join(root, path), join(home, path), { recursive: true, filter: isShipped })
  cpSync(node, join(target, 'lib', 'node'))
  mkdirSync(join(target, 'bin'))
  writeFileSync(join(target, 'bin', 'sluice'), LAUNCHER)
  for (const file of ['bin/sluice', 'lib/node']) chmodSync(join(target, file), 0o755)
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
}

/** What `npm install --omit=dev` installs, by the lock file. Throws if some of it is not installed here. */
export function listShipped(root: string): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; link?: boolean }>
  }
  return Object.entries(lock.packages).flatMap(([path, { dev, optional, link }]) => {
    if (!path.startsWith('node_modules/') || dev === true || link === true) return []
    if (existsSync(join(root, path))) return [path]
    if (optional === true) return []
    throw new Error(`${path} is not installed: run \`npm ci\``)
  })
}

/** A package below another is listed by itself; tests, types and maps of others run nothing. */
function isShipped(path: string): boolean {
  return !/\.(map|d\.[cm]?ts|tsbuildinfo)$|\/node_modules\/(@[^/]+\/)?[^/]+\/node_modules$/.test(
    path,
  )
}

export function readVersion(root: string): string {
  const file = join(root, 'packages', 'cli', 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** Writes the archive of the bundle. `target` is its path without `.tar.gz`; returns the archive. */
export function writeStandalone(platform: Platform, target: string): string {
  const node = fetchNode(platform, NODE_VERSION)
  assembleStandalone({ root: ROOT, target, node: join(node, 'bin', 'node') })
  cpSync(join(node, 'LICENSE'), join(target, 'LICENSE.node'))
  writeTar(`${target}.tar`, { folder: dirname(target), names: [basename(target)] })
  compress(`${target}.tar`, `${target}.tar.gz`)
  rmSync(target, { recursive: true })
  return `${target}.tar.gz`
}

/** Builds the repository, then what `write` makes of it for the platform that the options name, and prints its digest. */
export async function buildFor(
  command: string,
  write: (platform: Platform, target: string) => string,
): Promise<void> {
  const { values } = parseArgs({
    options: { platform: { type: 'string', default: `${process.platform}-${process.arch}` } },
  })
  const platform = PLATFORMS.find((each) => each === values.platform)
  if (platform === undefined) {
    const known = PLATFORMS.join(', ')
    console.error(`${command}: --platform is \`${values.platform}\`: one of ${known}`)
    process.exit(2)
  }
  const built = await runStep('build', ['scripts/build.ts'])
  console.error(`${command}: ${describeStep(built)}`)
  if (!built.passed) process.exit(1)
  const folder = join(ROOT, 'dist', 'standalone')
  mkdirSync(folder, { recursive: true })
  const archive = write(platform, join(folder, `sluice-${readVersion(ROOT)}-${platform}`))
  console.log(`${sha256Of(archive)}  ${archive}`)
}

if (import.meta.main) await buildFor('bundle', writeStandalone)
