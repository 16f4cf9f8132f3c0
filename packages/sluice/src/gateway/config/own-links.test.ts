// How often following links looks at the disk: once for what is there, never below what is missing, and
// no more than a call may.

import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { LINK_LOOKUPS_MAX } from './limits.ts'
import { followLinks } from './own-links.ts'

const top = mkdtempSync(join(tmpdir(), 'sluice-links-'))
mkdirSync(join(top, 'sub'))
writeFileSync(join(top, 'sub', 'file'), 'x')
symlinkSync('../sub/./file', join(top, 'sub', 'link'))
symlinkSync('../nothing/../sub/new', join(top, 'sub', 'dangling'))
afterAll(() => rmSync(top, { recursive: true, force: true }))

let looks = 0
const start = followLinks({
  ownPaths: ['/gate/own'],
  workDirectories: '/gate/own/servers',
  look: (path) => {
    looks++
    return lstatSync(path, { throwIfNoEntry: false })
  },
})

test('F5: nothing is looked up below a missing name, and nothing twice', () => {
  const lookup = start()
  looks = 0
  for (let path = 0; path < 5_000; path++) {
    const deep = `/none${'/a'.repeat(300)}/${path}`
    expect(lookup(deep)).toBe(deep)
  }
  expect(looks).toBe(1)
  const depth = top.split('/').length - 1
  looks = 0
  for (let again = 0; again < 3; again++)
    expect(lookup(join(top, 'sub', 'link'))).toMatch(/\/sub\/file$/)
  expect(looks).toBeLessThanOrEqual(2 * depth + 3)
  expect(lookup(join(top, 'sub', 'dangling'))).toMatch(/\/sub\/new$/)
  looks = 0
  expect(lookup(`/${'n'.repeat(300)}/x`)).toBe(`/${'n'.repeat(300)}/x`)
  expect(looks).toBe(0)
})

test('F5: past the lookups of a call every path counts as one of the gate’s', () => {
  const lookup = start()
  looks = 0
  const found = Array.from({ length: 2 * LINK_LOOKUPS_MAX }, (_, at) => lookup(`/none${at}`))
  expect(looks).toBe(LINK_LOOKUPS_MAX)
  expect(found[LINK_LOOKUPS_MAX - 1]).toBe(`/none${LINK_LOOKUPS_MAX - 1}`)
  expect(new Set(found.slice(LINK_LOOKUPS_MAX))).toEqual(new Set(['/gate/own']))
  // Each call has its own.
  expect(start()('/none')).toBe('/none')
})
