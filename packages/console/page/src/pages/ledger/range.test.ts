// Ranges of time by name and as they are typed.

import { expect, test } from 'vitest'
import { RANGES, readTime, resolveRange, writeTime } from './range.ts'

const NOW = Date.UTC(2026, 10, 19, 1, 30)
const utc = (name: string) => {
  const { sinceMs = 0, untilMs } = resolveRange(name, NOW, true) ?? {}
  return [writeTime(sinceMs, true), untilMs === undefined ? '' : writeTime(untilMs, true)]
}

test('a named range is days and months of the zone, or a while up to now', () => {
  expect(utc('24h')).toEqual(['2026-11-18 01:30:00', ''])
  expect(utc('today')).toEqual(['2026-11-19 00:00:00', ''])
  expect(utc('yesterday')).toEqual(['2026-11-18 00:00:00', '2026-11-18 23:59:59'])
  expect(utc('last-month')).toEqual(['2026-10-01 00:00:00', '2026-10-31 23:59:59'])
  for (const { value } of RANGES) expect(resolveRange(value, NOW, false)).toBeDefined()
  expect(resolveRange('never', NOW, true)).toBeUndefined()
})

test('what is typed is the whole of a day, a minute or a second', () => {
  const read = (text: string, isEnd: boolean) => readTime(text, { isUtc: true, isEnd })
  expect(read('2026-10-01', false)).toBe(Date.UTC(2026, 9, 1))
  expect(read('2026-10-31', true)).toBe(Date.UTC(2026, 10, 1) - 1)
  expect(read('2026-10-31 12:30', true)).toBe(Date.UTC(2026, 9, 31, 12, 31) - 1)
  expect(read(' 2026-10-31T12:30:05', false)).toBe(Date.UTC(2026, 9, 31, 12, 30, 5))
  for (const text of ['', 'October', '10/30/2026', '2026-10'])
    expect(read(text, true)).toBeUndefined()
  expect(readTime(writeTime(NOW, false), { isUtc: false, isEnd: false })).toBe(NOW)
})
