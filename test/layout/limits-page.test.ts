// docs/reference/limits.md agrees with the limits.ts of the modules: its values are current, and what an error names is on
// it. Every limit has a comment of its own.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../../scripts/run-step.ts'
import { readLimits } from '../support/limits.ts'

const LIMITS = await readLimits()
const PAGE = readFileSync(join(ROOT, 'docs', 'reference', 'limits.md'), 'utf8')
const ROWS = [...PAGE.matchAll(/^\| `([\w.]+)` \| ([\d,.]+) \|/gm)]

test('every limit has a comment of its own, directly above it', () => {
  expect(
    LIMITS.filter(({ says }) => says === '').map(({ file, name }) => `${file} ${name}`),
  ).toEqual([])
})

test('the page has the value of each limit that it names', () => {
  expect(ROWS.length).toBeGreaterThan(50)
  for (const [, name, value] of ROWS) {
    const values = LIMITS.filter((limit) => limit.name === name).map((limit) =>
      limit.value.toLocaleString('en-US', { maximumFractionDigits: 6 }),
    )
    expect(values, `\`${name}\` of docs/reference/limits.md`).toContain(value)
  }
})

test('the page has the limits that people meet: at most 60, each with its error', () => {
  expect(PAGE.match(/^\| `/gm)?.length).toBeLessThanOrEqual(60)
  const lists = PAGE.indexOf('## Lists of servers')
  const outside = PAGE.slice(0, lists) + PAGE.slice(PAGE.indexOf('## Policies'))
  const rows = [...outside.matchAll(/^\| `([\w.]+)` \| [\d,.]+ \|.*\| (.*) \|$/gm)]
  expect(rows.length).toBeGreaterThan(40)
  for (const [, name, error] of rows)
    expect(error, name).toMatch(/^(`[A-Z]+(_[A-Z]+)*`|HTTP status \d{3}|JSON-RPC -\d+|-\d+)/)
})

test('a limit whose comment names an error of calls is on the page', () => {
  const named = new Set(ROWS.map(([, name]) => name))
  const missing = LIMITS.filter(({ says }) =>
    /refused with `(APPROVAL|LEDGER)_[A-Z_]+`/.test(says),
  ).filter(({ name }) => !named.has(name))
  expect(missing.map(({ file, name }) => `${file} ${name}`)).toEqual([])
})
