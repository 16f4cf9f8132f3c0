// kill -9 while schedules are due; 1,000 due times by `npm run soak -- agents-schedule`.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { IS_FULL } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { killSchedules } from './schedule-kills.ts'

const KILLS = IS_FULL ? 4 : 2

test('kill -9: each due time begins one run, and every run ends', {
  timeout: 180_000,
}, async () => {
  // Before and after the prompt, and before and after the schedule has moved on.
  const places = [0.0, 0.1, 0.0, 0.9, 0.02, 0.1, 0.02, 0.9]
  const random = () => places.shift() ?? 0
  const played = await killSchedules(join(scratchDirectory(), 'data'), {
    due: 24,
    killsMax: KILLS,
    random,
  })
  expect(played).toMatchObject({ kills: KILLS, due: 24, missing: [], twice: [], unended: [] })
})
