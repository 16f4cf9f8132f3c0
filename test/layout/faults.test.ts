// The planted faults of test/soak/faults still apply to the tree: whoever changes what one of them patches makes it
// again, and `npm run soak -- faults --only NAME` shows that it is found.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { FAULTS } from '../support/planted-patches.ts'

test.each([...FAULTS])('%s applies', (_, patch) => {
  const { status, stderr } = spawnSync('git', ['apply', '--check', patch], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
})

test('there are faults of at least eight kinds', () => {
  expect(FAULTS.size).toBeGreaterThanOrEqual(8)
})
