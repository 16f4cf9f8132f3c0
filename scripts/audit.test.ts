// The licence check: the installed packages pass it, and a licence that is not on the list does
// not.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchDirectory } from '../test/support/scratch.ts'
import { checkLicences, isAllowed } from './audit.ts'
import { ROOT } from './run-step.ts'

test('everything that is shipped has a licence on the list', () => {
  const { checked, problems } = checkLicences(ROOT)
  expect(checked).toBeGreaterThan(20)
  expect(problems).toEqual([])
})

test('a licence that is not on the list, or none, is a problem', () => {
  const root = scratchDirectory()
  const put = (name: string, manifest: object): void => {
    mkdirSync(join(root, 'node_modules', name), { recursive: true })
    writeFileSync(join(root, 'node_modules', name, 'package.json'), JSON.stringify(manifest))
  }
  put('good', { license: '(MIT OR GPL-3.0-only)' })
  put('copyleft', { license: 'AGPL-3.0-only' })
  put('silent', {})
  put('tool', { license: 'GPL-3.0-only' })
  const packages = {
    'node_modules/good': {},
    'node_modules/copyleft': {},
    'node_modules/silent': {},
    'node_modules/tool': { dev: true },
  }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  expect(checkLicences(root).problems).toEqual([
    'node_modules/copyleft: `AGPL-3.0-only` is not on the list',
    'node_modules/silent: states no licence, or is not installed',
  ])
})

test('an expression is allowed if it can be satisfied', () => {
  expect(['MIT', '(ISC OR GPL-2.0)', 'MIT AND ISC'].map(isAllowed)).toEqual([true, true, true])
  expect(['GPL-2.0', 'MIT AND GPL-2.0', '((MIT))x', ''].map(isAllowed)).toEqual(
    Array(4).fill(false),
  )
})
