// docs/reference/limits.md agrees with the limits.ts of the modules: its tables are generated from them,
// every limit is described by a comment of its own, and values in the page's own tables are current.

import { expect, test } from 'vitest'
import { limitsPage, readLimits, writeNumber } from '../../scripts/limits-page.ts'

test('the tables are those of the sources (run `node scripts/limits-page.ts`)', async () => {
  const { is, shouldBe } = await limitsPage()
  expect(is).toBe(shouldBe)
})

test('every limit has a comment of its own, directly above it', async () => {
  const limits = await readLimits()
  expect(
    limits.filter(({ says }) => says === '').map(({ file, name }) => `${file} ${name}`),
  ).toEqual([])
})

test('what the page says of a limit in its own words has the value of the limit', async () => {
  const limits = await readLimits()
  const { is } = await limitsPage()
  const rows = [...is.matchAll(/^\| `([\w.]+)` \| ([\d,.]+) \|/gm)]
  expect(rows.length).toBeGreaterThan(limits.length)
  for (const [, name, value] of rows) {
    const values = limits
      .filter((limit) => limit.name === name)
      .map((one) => writeNumber(one.value))
    expect(values, `\`${name}\` of docs/reference/limits.md`).toContain(value)
  }
})
