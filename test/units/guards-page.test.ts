// The page on guards and the engine have the same table of what is checked of an argument.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ArgumentChecks,
  CHECKS_BY_NAME,
  CHECKS_BY_POLICY,
} from '@sluice/policy/provenance/checks-by-role'
import { expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'

const page = readFileSync(join(ROOT, 'docs/concepts/guards.md'), 'utf8')

test('what is checked of an argument is what the page says', () => {
  const [, section = ''] = page.split('### What is checked of an argument\n')
  const rows = section.split('\n## ')[0]?.split('\n') ?? []
  const written = rows.filter((row) => /^\| by (?:its name|`destinations`): /.test(row))
  expect(written).toEqual([
    ...listRows('by its name', CHECKS_BY_NAME),
    ...listRows('by `destinations`', CHECKS_BY_POLICY),
  ])
})

/** What is not checked has no row: the page says so above the table. */
function listRows(by: string, checks: Readonly<Record<string, ArgumentChecks | undefined>>) {
  return Object.entries(checks).flatMap(([argument, row]) => {
    if (row === undefined) return []
    const cells = [row.value, row.host, row.list, row.free, row.read].map((cell) => `\`${cell}\``)
    return [`| ${[`${by}: ${argument}`, ...cells].join(' | ')} |`]
  })
}
