// kill -9 on the way of a held call: never made twice, never without its approval, and every request
// ends executed, refused, or unknown in front of a person. At every step by `npm run soak -- approvals`.

import { expect, test } from 'vitest'
import { approvalKills, type Kill } from '../support/approval-kills.ts'
import { forms } from '../support/runs.ts'

/** Taken and not on record; on record as leaving; the verdict on record and not in force; sent and answered. */
const KILLS: readonly Kill[] = forms(
  [
    { step: 'requests.use 1', when: 'after' },
    { step: 'ledger.intent 1', when: 'after' },
    { step: 'requests.vote 1', when: 'before' },
    { step: 'ledger.outcome 1', when: 'before' },
  ],
  2,
)

test('kill -9 at the steps that matter most', { timeout: 180_000 }, async () => {
  const { wrong, ends } = await approvalKills(() => KILLS)
  expect(wrong).toEqual([])
  expect(ends).toHaveLength(1 + KILLS.length)
  // Nobody knows whether it arrived if it was on record as leaving.
  const left = KILLS.filter(({ step }) => step.startsWith('ledger.'))
  expect(ends.filter((end) => end === 'unknown')).toHaveLength(left.length)
})
