// The end of a trial in shadow stands in the document, once.

import { expect, test } from 'vitest'
import { findShadowEnd, isShadowOver, writeShadowEnd } from './shadow-end.ts'

const NOW = Date.UTC(2026, 10, 19, 12)
const TEXT = 'version: 1\ntools:\n  a/b: { action: deny, mode: shadow }\n'

test('the day is written once, read again, and is over when it comes, as long as a rule is in shadow', () => {
  const first = writeShadowEnd(TEXT, NOW)
  expect(first).toBe(`${TEXT}# in shadow until 2026-11-26\n`)
  const second = writeShadowEnd(`${first}guardrails: []\n`, Date.UTC(2026, 10, 20))
  expect(second.match(/in shadow until/g)).toHaveLength(1)
  expect(findShadowEnd(second)).toBe('2026-11-27')
  expect(isShadowOver(second, NOW)).toBe(false)
  expect(isShadowOver(second, Date.UTC(2026, 10, 27))).toBe(true)
  expect(isShadowOver(second.replace(', mode: shadow', ''), Date.UTC(2027, 1))).toBe(false)
  expect(findShadowEnd(TEXT)).toBeUndefined()
  expect(writeShadowEnd('{}', NOW)).toBe('{}')
})
