// The bill of materials of a release, in CycloneDX 1.6: every package of npm that is installed with the product, the
// Node of the bundles and the image, and the Debian packages of the image, with their digests and licences. It depends
// on the lock files and the revision alone.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DebianPackage, readDebianLock } from './debian.ts'
import { DIGESTS, NODE_VERSION, PLATFORMS } from './node-binary.ts'
import { listShipped, readVersion } from './standalone.ts'

interface Component {
  readonly type: 'application' | 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly object[]
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[]
}

interface LockEntry {
  readonly version: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** `madeAt` is the time of the revision. */
export function makeBom(root: string, madeAt: string): object {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  const version = readVersion(root)
  const shipped = listShipped(root)
  const main = describeProduct('sluice', version)
  const refs = new Map(shipped.map((path) => [path, refOf(path, packages[path])]))
  const parts = new Map<string, Component>()
  for (const path of shipped) {
    const part = describeShipped(root, path, packages[path])
    parts.set(part['bom-ref'], part)
  }
  const runtimes = PLATFORMS.map((platform) => describeNode(`node-${platform}`))
  const debian = PLATFORMS.flatMap((platform) =>
    readDebianLock(platform).image.map((each) => describeDebian(each)),
  )
  const components = [...parts.values(), ...runtimes, ...debian].sort(byRef)
  const resolve = (from: string, entry: LockEntry | undefined): string[] =>
    Object.keys({
      ...entry?.dependencies,
      ...entry?.optionalDependencies,
      ...entry?.peerDependencies,
    })
      .map((name) => refs.get(findAbove(refs, from, name)))
      .filter((ref) => ref !== undefined)
  const edges = new Map<string, Set<string>>()
  const connect = (ref: string, to: readonly string[]): void => {
    edges.set(ref, new Set([...(edges.get(ref) ?? []), ...to]))
  }
  connect(main['bom-ref'], [
    ...Object.keys(packages)
      .filter((path) => /^packages\/[^/]+$/.test(path))
      .flatMap((path) => resolve('', packages[path])),
    ...[...runtimes, ...debian].map((each) => each['bom-ref']),
  ])
  for (const [path, ref] of refs) connect(ref, resolve(path, packages[path]))
  const dependencies = [...edges].map(([ref, to]) => ({ ref, dependsOn: [...to].sort() }))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([version, components]))}`,
    version: 1,
    metadata: { timestamp: madeAt, component: main },
    components,
    dependencies: dependencies.sort((one, other) => (one.ref < other.ref ? -1 : 1)),
  }
}

function byRef(one: Component, other: Component): number {
  return one['bom-ref'] < other['bom-ref'] ? -1 : 1
}

function describe(type: Component['type'], purl: string, name: string, version: string): Component {
  return { type, 'bom-ref': purl, name, version, purl }
}

function describeProduct(name: string, version: string): Component {
  const licenses = [{ license: { id: 'Apache-2.0' } }]
  return { ...describe('application', npmUrl(name, version), name, version), licenses }
}

function npmUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function refOf(path: string, entry: LockEntry | undefined): string {
  return npmUrl(nameOf(path), entry?.version ?? '')
}

/** The folder in which Node finds the package. */
function findAbove(refs: ReadonlyMap<string, string>, from: string, name: string): string {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/'))))
    if (refs.has(`${at}/node_modules/${name}`)) return `${at}/node_modules/${name}`
  return `node_modules/${name}`
}

function describeShipped(root: string, path: string, entry: LockEntry | undefined): Component {
  const name = nameOf(path)
  const version = entry?.version ?? ''
  const { license } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
  const isExpression = / (?:OR|AND|WITH) /.test(license)
  return {
    ...describe('library', npmUrl(name, version), name, version),
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
    ...hashOf(entry?.integrity),
  }
}

function hashOf(integrity: string | undefined): Pick<Component, 'hashes'> {
  if (!integrity?.startsWith('sha512-')) return {}
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
  return { hashes: [{ alg: 'SHA-512', content }] }
}

function describeNode(name: string): Component {
  const url = npmUrl(name, NODE_VERSION)
  return {
    ...describe('application', url, name, NODE_VERSION),
    licenses: [{ license: { id: 'MIT' } }],
    ...hashOf(DIGESTS[`${name}@${NODE_VERSION}`]),
  }
}

/** Their licences are in the image, below `/usr/share/doc`. */
function describeDebian({ name, version, path, sha256 }: DebianPackage): Component {
  const [, architecture] = /_([a-z0-9]+)\.deb$/.exec(path) ?? []
  const url = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=trixie`
  return {
    ...describe('library', url, name, version),
    hashes: [{ alg: 'SHA-256', content: sha256 }],
  }
}

/** A UUID of version 8, whose bits have no other meaning. Equal contents have an equal one. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
