// What a release is made of, without making one: the bill of materials, the notes, and the lock of Debian packages.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { expect, test } from 'vitest'
import { readDebianLock } from './debian.ts'
import { PLATFORMS } from './node-binary.ts'
import { readNotes } from './release.ts'
import { ROOT } from './run-step.ts'
import { makeBom } from './sbom.ts'
import { listShipped, readVersion } from './standalone.ts'

test('the bill of materials is valid, names all that is shipped, and is equal each time', async () => {
  const bom = makeBom(ROOT, '2026-11-17T00:00:00Z') as { components: { purl: string }[] }
  const text = JSON.stringify(bom)
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  expect(await validator.validate(text)).toBeNull()
  expect(await validator.validate(text.replace('"purl"', '"purll"'))).not.toBeNull()
  const urls = bom.components.map(({ purl }) => purl)
  expect(urls).toContain('pkg:npm/%40modelcontextprotocol/server@2.4.0')
  expect(urls.filter((url) => url.startsWith('pkg:deb/debian/libc6@'))).toHaveLength(2)
  const npm = new Set(urls.filter((url) => url.startsWith('pkg:npm/')))
  // A package may be shipped twice in one version; beside them is Node for each platform.
  expect(npm.size).toBeLessThanOrEqual(listShipped(ROOT).length + PLATFORMS.length)
  expect(npm.size).toBeGreaterThan(listShipped(ROOT).length / 2)
  expect(makeBom(ROOT, '2026-11-17T00:00:00Z')).toEqual(bom)
})

test('the version that is being made has notes, and others are not among them', () => {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const notes = readNotes(changelog, readVersion(ROOT))
  expect(notes).toMatch(/^### |^\w/)
  expect(notes).not.toMatch(/^## /m)
  expect(readNotes(changelog, '9.9.9')).toBeUndefined()
  expect(
    readNotes('# Changelog\n\n## 2.0.0\n\none\n\n## 1.0.0 (never released)\n\ntwo\n', '1.0.0'),
  ).toBe('two')
})

test('Debian packages are locked for every platform, from Debian, with digests', () => {
  const [first, ...others] = PLATFORMS.map((platform) => readDebianLock(platform).image)
  for (const { path, sha256 } of [first, ...others].flat().filter((each) => each !== undefined)) {
    expect(path).toMatch(/^debian(-security)?\/pool\/.*\.deb$/)
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  }
  for (const other of others)
    expect(other.map(({ name }) => name)).toEqual(first?.map(({ name }) => name))
})
