// kill -9 of the gate under load: whatever reached a server is on record, the chain fits together, no
// process is left, and the next gate goes on with the same data. More often by `npm run soak -- kill`.

import { afterAll, expect, test } from 'vitest'
import { killRounds } from '../support/kill-rounds.ts'
import { IS_FULL } from '../support/runs.ts'
import { endGates } from '../support/start-gate.ts'

const TIMES = IS_FULL ? 12 : 2

afterAll(endGates)

test(`kill -9 under load, ${TIMES} times`, { timeout: 300_000 }, async () => {
  const { wrong, arrived } = await killRounds(TIMES)
  expect(wrong).toEqual([])
  expect(arrived).toBeGreaterThan(TIMES * 40)
})
