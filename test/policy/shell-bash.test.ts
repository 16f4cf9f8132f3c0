// `shell()` compared with Bash itself: what Bash starts for a certain text is in the reading. A million
// texts are compared by `npm run fuzz -- shell`.

import { expect, test } from 'vitest'
import { Random } from '../fuzz/mutate.ts'
import { IS_FULL, rounds } from '../support/runs.ts'
import {
  compareFamilies,
  compareWithBash,
  generateFamilyText,
  generateShellText,
} from '../support/shell-texts.ts'

const TEXTS = rounds(5_000)
/** A million with `SLUICE_RUNS=50`. */
const FAMILY_TEXTS = IS_FULL ? rounds(20_000) : 1_500
const BATCH = 5_000

test(`Bash starts nothing else for the certain ones of ${TEXTS} random texts`, () => {
  const random = new Random(20_261_117)
  const texts = Array.from({ length: TEXTS }, () => generateShellText(random))
  const { compared, differences } = compareWithBash(texts)
  console.log(`shell: ${compared} of ${TEXTS} texts are certain and start something`)
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(TEXTS / 20)
}, 120_000)

test(`Bash starts nothing outside of their families for ${FAMILY_TEXTS} random texts, and writes no file`, () => {
  const random = new Random(20_261_118)
  let ran = 0
  for (let done = 0; done < FAMILY_TEXTS; done += BATCH) {
    const texts = Array.from({ length: Math.min(BATCH, FAMILY_TEXTS - done) }, () =>
      random.next(4) === 0 ? generateShellText(random) : generateFamilyText(random),
    )
    const { outside, files, ...batch } = compareFamilies(texts)
    expect([...outside, ...files]).toEqual([])
    ran += batch.ran
  }
  console.log(`shell: ${ran} of ${FAMILY_TEXTS} texts are of the families and start something`)
  expect(ran).toBeGreaterThan(FAMILY_TEXTS / 50)
}, 3_600_000)
