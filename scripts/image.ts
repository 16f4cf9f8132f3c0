// `npm run image -- --platform linux-x64|linux-arm64`: the image of a gate, as an archive for `podman load` or `docker
// load`. It starts from no base image: it has the product with its Node, as in the bundle, and the few libraries of
// Debian that Node needs (deploy/image/debian.json). No shell, no package manager, not root. The archive is an OCI
// image layout that also has the list of the older Docker format.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compress, sha256Of, writeTar } from './archive.ts'
import { fetchDebian, readDebianLock, unpackDebian } from './debian.ts'
import { fetchNode, NODE_VERSION, type Platform } from './node-binary.ts'
import { ROOT } from './run-step.ts'
import { assembleStandalone, buildFor, readVersion } from './standalone.ts'

/** User and group of the gate: those that Kubernetes and Compose files name. */
const USER = 1000
const ARCHITECTURES: Readonly<Record<Platform, string>> = {
  'linux-x64': 'amd64',
  'linux-arm64': 'arm64',
}
const WRITABLE = [
  { name: 'tmp', owner: 0, mode: '1777' },
  { name: 'var/lib/sluice', owner: USER, mode: '0700' },
]
/** Files of Debian packages that nothing in the image reads. Licences stay. */
const UNUSED = [
  'usr/share/lintian',
  'usr/share/locale',
  'usr/share/man',
  'usr/share/bash-completion',
  'usr/share/zsh',
]
const HOME = '/opt/sluice'
const COMMAND = `${HOME}/lib/sluice/bin/sluice.js`

export interface ImageOptions {
  /** A repository that is built: `dist`, `node_modules`, `package-lock.json`. */
  readonly root: string
  /** The Node that runs in it. */
  readonly node: string
  readonly platform: Platform
  /** Where the archive goes. */
  readonly file: string
}

interface Layer {
  readonly digest: string
  readonly size: number
}

/** Builds the image, uncompressed. */
export function buildImage({ root, node, platform, file }: ImageOptions): void {
  const work = mkdtempSync(join(tmpdir(), 'sluice-image-'))
  try {
    const blobs = join(work, 'image/blobs/sha256')
    mkdirSync(blobs, { recursive: true })
    const put = (draft: string): Layer => {
      const digest = sha256Of(draft)
      const { size } = statSync(draft)
      renameSync(draft, join(blobs, digest))
      return { digest: `sha256:${digest}`, size }
    }
    const putText = (text: unknown): Layer => {
      writeFileSync(join(work, 'text'), JSON.stringify(text))
      return put(join(work, 'text'))
    }
    makeSystem(join(work, 'system'), platform)
    makeProduct(join(work, 'product'), root, node)
    const draft = join(work, 'layer')
    const layers = ['system', 'product'].map((name) => {
      writeTar(draft, { folder: join(work, name), names: readdirSync(join(work, name)).sort() })
      return put(draft)
    })
    // The only folders that the gate may write; what is above them stays root's.
    for (const { name, ...owned } of WRITABLE) {
      mkdirSync(join(work, 'data', name), { recursive: true })
      const options = ['--no-recursion']
      writeTar(draft, { folder: join(work, 'data'), names: [name], options, ...owned })
      layers.push(put(draft))
    }
    const config = putText(describeImage(layers, platform, root))
    writeLayout(join(work, 'image'), { layers, config, tag: nameImage(root), put: putText })
    writeTar(file, { folder: join(work, 'image'), names: readdirSync(join(work, 'image')).sort() })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

export function nameImage(root: string): string {
  return `localhost/sluice:${readVersion(root)}`
}

/** Libraries, users, and where things are looked up. */
function makeSystem(folder: string, platform: Platform): void {
  const { image } = readDebianLock(platform)
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    mkdirSync(join(folder, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(folder, name))
  }
  unpackDebian(image, folder)
  for (const unused of UNUSED) rmSync(join(folder, unused), { recursive: true, force: true })
  // As other images without a package manager have it: scanners find the versions of libraries there.
  const status = join(folder, 'var/lib/dpkg/status.d')
  for (const name of ['etc', 'var/lib/dpkg/status.d', 'usr/local/bin'])
    mkdirSync(join(folder, name), { recursive: true })
  for (const each of image)
    writeFileSync(join(status, each.name), execFileSync('dpkg-deb', ['-f', fetchDebian(each)]))
  const files = {
    passwd: `root:x:0:0:root:/root:/sbin/nologin\nsluice:x:${USER}:${USER}:sluice:/var/lib/sluice:/sbin/nologin\n`,
    group: `root:x:0:\nsluice:x:${USER}:\n`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'etc', name), text)
}

/** The product as in the bundle, its configuration, and both programs on PATH. */
function makeProduct(folder: string, root: string, node: string): void {
  const home = join(folder, HOME)
  assembleStandalone({ root, target: home, node })
  // There is no shell and no `env`: the command names its Node itself.
  rmSync(join(home, 'bin'), { recursive: true })
  const command = join(folder, COMMAND)
  const text = readFileSync(command, 'utf8').replace(/^#!.*/, `#!${HOME}/lib/node`)
  writeFileSync(command, text, { mode: 0o755 })
  mkdirSync(join(folder, 'usr/local/bin'), { recursive: true })
  symlinkSync(`${HOME}/lib/node`, join(folder, 'usr/local/bin/node'))
  symlinkSync(COMMAND, join(folder, 'usr/local/bin/sluice'))
  for (const name of ['sluice.yaml', 'policy.yaml'])
    cpSync(join(root, 'deploy', name), join(folder, 'etc/sluice', name))
}

function describeImage(layers: readonly Layer[], platform: Platform, root: string): unknown {
  const check =
    "fetch('http://127.0.0.1:7433/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"
  const seconds = (number: number): number => number * 1_000_000_000
  return {
    created: readCommitTime(root),
    architecture: ARCHITECTURES[platform],
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { '7433/tcp': {} },
      // The key that shows whose the data directory is lies beside it: the rest of the image may be read-only.
      Env: [
        'PATH=/usr/local/bin:/usr/bin',
        'NODE_ENV=production',
        'HOME=/var/lib/sluice',
        'XDG_STATE_HOME=/var/lib/sluice/state',
      ],
      Entrypoint: ['/usr/local/bin/sluice'],
      Cmd: ['up', '--config', '/etc/sluice/sluice.yaml', '--log', 'json'],
      // Commands find the configuration in the working directory: `podman exec … sluice status`.
      WorkingDir: '/etc/sluice',
      Volumes: { '/var/lib/sluice': {} },
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': 'sluice',
        'org.opencontainers.image.version': readVersion(root),
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
      Healthcheck: {
        Test: ['CMD', 'node', '-e', check],
        Interval: seconds(5),
        Timeout: seconds(2),
        StartPeriod: seconds(20),
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
  }
}

/** Of the commit, so that a build that is repeated is equal; without a repository the beginning of time. */
function readCommitTime(root: string): string {
  const how = ['log', '-1', '--format=%cd', '--date=format-local:%Y-%m-%dT%H:%M:%SZ']
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } } as const
  const { status, stdout } = spawnSync('git', how, options)
  return status === 0 && stdout !== '' ? stdout.trim() : '1970-01-01T00:00:00Z'
}

interface Layout {
  readonly layers: readonly Layer[]
  readonly config: Layer
  readonly tag: string
  readonly put: (text: unknown) => Layer
}

function writeLayout(folder: string, { layers, config, tag, put }: Layout): void {
  const type = 'application/vnd.oci.image'
  const manifest = put({
    schemaVersion: 2,
    mediaType: `${type}.manifest.v1+json`,
    config: { mediaType: `${type}.config.v1+json`, ...config },
    layers: layers.map((layer) => ({ mediaType: `${type}.layer.v1.tar`, ...layer })),
  })
  const annotations = { 'org.opencontainers.image.ref.name': tag }
  const entry = { mediaType: `${type}.manifest.v1+json`, ...manifest, annotations }
  const pathOf = ({ digest }: Layer): string => `blobs/${digest.replace(':', '/')}`
  const files = {
    'oci-layout': { imageLayoutVersion: '1.0.0' },
    'index.json': { schemaVersion: 2, mediaType: `${type}.index.v1+json`, manifests: [entry] },
    'manifest.json': [{ Config: pathOf(config), RepoTags: [tag], Layers: layers.map(pathOf) }],
  }
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, name), JSON.stringify(value))
}

/** Writes the compressed archive of the image. `target` is its path without what follows the platform; returns the archive. */
export function writeImage(platform: Platform, target: string): string {
  const node = join(fetchNode(platform, NODE_VERSION), 'bin', 'node')
  buildImage({ root: ROOT, node, platform, file: `${target}.tar` })
  compress(`${target}.tar`, `${target}-image.tar.gz`)
  return `${target}-image.tar.gz`
}

if (import.meta.main) await buildFor('image', writeImage)
