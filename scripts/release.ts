// `npm run release -- --dry-run`: everything that a release has, in dist/release: two npm packages, the bundles and
// images for each platform, the bill of materials, notes and checksums. Without `--dry-run` it first demands what a
// release needs: a tag of the version at this revision, no uncommitted change, and the address of the repository. It
// publishes nothing: docs/how-to/release.md.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sha256Of } from './archive.ts'
import { writeImage } from './image.ts'
import { PLATFORMS } from './node-binary.ts'
import { packPackages } from './pack.ts'
import { ROOT } from './run-step.ts'
import { makeBom } from './sbom.ts'
import { readVersion, writeStandalone } from './standalone.ts'

/** What is said of a version in CHANGELOG.md; undefined if it has no section. */
export function readNotes(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m)
  const section = sections.find((each) => /^\S+/.exec(each)?.[0] === version)
  return section?.replace(/^.*\n+/, '').trimEnd()
}

/** What stands against a release of this revision. */
function findObstacles(version: string): string[] {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const tag = `v${version}`
  return [
    git('status', '--porcelain') === '' ? '' : 'there are uncommitted changes: commit them',
    git('tag', '--points-at', 'HEAD').split('\n').includes(tag)
      ? ''
      : `this revision has no tag \`${tag}\`: \`git tag --sign ${tag}\``,
    repository.url.includes('example.com')
      ? `\`repository\` of package.json is \`${repository.url}\`: write the address of the repository`
      : '',
  ].filter((obstacle) => obstacle !== '')
}

async function release(isDryRun: boolean): Promise<number> {
  const version = readVersion(ROOT)
  const notes = readNotes(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)
  const missing = notes === undefined ? [`CHANGELOG.md has no section \`## ${version}\``] : []
  const obstacles = [...missing, ...findObstacles(version)]
  for (const obstacle of obstacles)
    console.error(`release: ${isDryRun ? 'a release would need this: ' : ''}${obstacle}`)
  if (obstacles.length > 0 && !isDryRun) return 1
  const out = join(ROOT, 'dist', 'release')
  if (!(await packPackages(out))) return 1
  for (const platform of PLATFORMS) {
    const target = join(out, `sluice-${version}-${platform}`)
    for (const write of [writeStandalone, writeImage]) write(platform, target)
  }
  const madeAt = execFileSync('git', ['log', '-1', '--format=%cI'], { cwd: ROOT, encoding: 'utf8' })
  const bom = JSON.stringify(makeBom(ROOT, madeAt.trim()), null, 2)
  writeFileSync(join(out, `sluice-${version}.cdx.json`), `${bom}\n`)
  writeFileSync(join(out, 'NOTES.md'), `${notes ?? ''}\n`)
  const sums = readdirSync(out)
    .sort()
    .map((name) => ({
      name,
      digest: sha256Of(join(out, name)),
      size: statSync(join(out, name)).size,
    }))
  writeFileSync(
    join(out, 'SHA256SUMS'),
    sums.map(({ name, digest }) => `${digest}  ${name}\n`).join(''),
  )
  for (const { name, digest, size } of sums)
    console.log(`${digest}  ${(size / 1e6).toFixed(1).padStart(6)} MB  ${name}`)
  console.log(
    isDryRun
      ? 'dry run: nothing was published'
      : 'nothing was published: see docs/how-to/release.md',
  )
  return 0
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
  process.exitCode = await release(values['dry-run'])
}
