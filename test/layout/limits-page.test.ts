// docs/reference/limits.md says what the limits.ts of the rooms say: the tables are made of them, and every value
// that the page's own words name beside a limit is the limit's.

import { expect, test } from 'vitest'
import { limitsPage, readLimits, writeNumber } from '../../scripts/limits-page.ts'

test('the tables are those of the sources (run `node scripts/limits-page.ts`)', async () => {
  const { is, shouldBe } = await limitsPage()
  expect(is).toBe(shouldBe)
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
