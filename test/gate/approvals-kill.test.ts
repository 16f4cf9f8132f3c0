// kill -9 on the way of a held call: never made twice, never without its approval, and every request
// ends executed, refused, or unknown in front of a person. At every step by `npm run soak -- approvals`.

import { expect, test } from 'vitest'
import { approvalKills, type Kill } from '../support/approval-kills.ts'

/** The verdict on record and not in force; taken and not on record; on record; sent and answered. */
const KILLS: readonly Kill[] = [
  { step: 'requests.vote 1', when: 'before' },
  { step: 'requests.use 1', when: 'after' },
  { step: 'ledger.intent 1', when: 'after' },
  { step: 'ledger.outcome 1', when: 'before' },
]

test('kill -9 at the steps that matter most', { timeout: 180_000 }, async () => {
  const { wrong, ends } = await approvalKills(() => KILLS)
  expect(wrong).toEqual([])
  expect(ends).toHaveLength(1 + KILLS.length)
  // Once nobody knows whether it arrived: the two that were on record as leaving.
  expect(ends.filter((end) => end === 'unknown')).toHaveLength(2)
})
