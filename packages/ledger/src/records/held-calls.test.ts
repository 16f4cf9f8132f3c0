// What people read of a held call that was refused.

import { expect, test } from 'vitest'
import { describeRefusal } from './held-calls.ts'

test.each([
  ['approval-denied', { by: 'ada', comment: '' }, 'denied by ada'],
  ['approval-denied', { by: 'ada', comment: 'night flood' }, 'denied by ada: night flood'],
  ['approval-expired', { wasApproved: false }, 'nobody decided in time'],
  ['approval-expired', { wasApproved: true }, 'approved, and not made again in time'],
])('%s is said with who and why', (name, detail, text) => {
  expect(describeRefusal(name, JSON.stringify(detail))).toBe(text)
})
