// `npm run bundle -- --platform linux-x64|linux-arm64`: the product with Node inside, as a tarball that runs
// on a machine without Node. Dependencies are copied as package-lock.json has them installed here; none of
// them is compiled for a platform.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { fetchNode, NODE_VERSION, PLATFORMS, type Platform } from './node-binary.ts'
import { describeStep, ROOT, runStep } from './run-step.ts'

/** Uses no other program unless it was called through a link: it has to run with an empty PATH. */
const LAUNCHER = `#!/bin/sh
self=$0
while [ -L "$self" ]; do
  for readlink in readlink /usr/bin/readlink /bin/readlink; do
    target=$("$readlink" "$self" 2>/dev/null) && break
  done
  case $target in
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
  cpSync(join(root, 'dist', 'policy'), join(home, 'node_modules', '@sluice', 'policy'), {
    recursive: true,
  })
  for (const path of listShipped(root))
    cpSync(join(root, path), join(home, path), { recursive: true, filter: isShipped })
  cpSync(node, join(target, 'lib', 'node'))
  mkdirSync(join(target, 'bin'))
  writeFileSync(join(target, 'bin', 'sluice'), LAUNCHER)
  for (const file of ['bin/sluice', 'lib/node']) chmodSync(join(target, file), 0o755)
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
}

/** What `npm install --omit=dev` installs, by the lock file. Throws if some of it is not installed here. */
function listShipped(root: string): string[] {
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

async function bundle(platform: Platform): Promise<void> {
  const built = await runStep('build', ['scripts/build.ts'])
  console.error(`bundle: ${describeStep(built)}`)
  if (!built.passed) process.exit(1)
  const { version } = JSON.parse(
    readFileSync(join(ROOT, 'packages', 'sluice', 'package.json'), 'utf8'),
  ) as { version: string }
  const name = `sluice-${version}-${platform}`
  const target = join(ROOT, 'dist', 'standalone', name)
  const node = fetchNode(platform, NODE_VERSION)
  assembleStandalone({ root: ROOT, target, node: join(node, 'bin', 'node') })
  cpSync(join(node, 'LICENSE'), join(target, 'LICENSE.node'))
  const archive = `${target}.tar.gz`
  // Order, times and owners of the archive do not depend on the machine.
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  execFileSync('tar', [...same, '-czf', archive, '-C', dirname(target), name])
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex')
  console.log(`${digest}  ${archive}`)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { platform: { type: 'string', default: `${process.platform}-${process.arch}` } },
  })
  const platform = PLATFORMS.find((each) => each === values.platform)
  if (platform === undefined) {
    console.error(`bundle: --platform is \`${values.platform}\`: one of ${PLATFORMS.join(', ')}`)
    process.exit(2)
  }
  await bundle(platform)
}
