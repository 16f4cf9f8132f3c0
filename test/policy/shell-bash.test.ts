// `shell()` compared with Bash itself: what Bash starts for a certain text is in the reading. A million
// texts are compared by `npm run fuzz -- shell`.

import { expect, test } from 'vitest'
import { Random } from '../fuzz/mutate.ts'
import { rounds } from '../support/runs.ts'
import { compareWithBash, generateShellText } from '../support/shell-texts.ts'

const TEXTS = rounds(5_000)

test(`Bash starts nothing else for the certain ones of ${TEXTS} random texts`, () => {
  const random = new Random(20_261_117)
  const texts = Array.from({ length: TEXTS }, () => generateShellText(random))
  const { compared, differences } = compareWithBash(texts)
  console.log(`shell: ${compared} of ${TEXTS} texts are certain and start something`)
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(TEXTS / 20)
}, 120_000)
