// Ranges of time by name, and as days of a calendar.

import { fromAbsolute } from '@internationalized/date'
import { afterEach, expect, test, vi } from 'vitest'
import { toDays, wholeDays } from './days.ts'
import { RANGES, resolveRange, type TimeRange } from './range.ts'

const NOW = Date.UTC(2026, 10, 19, 1, 30)
const ZONE = 'Europe/Berlin'
const write = (ms: number | undefined, zone: string) =>
  ms === undefined ? '' : fromAbsolute(ms, zone).toString().slice(0, 19)
const texts = (range: TimeRange | undefined, zone: string) => [
  write(range?.sinceMs, zone),
  write(range?.untilMs, zone),
]
const named = (name: string, zone = 'UTC') => texts(resolveRange(name, NOW, zone), zone)

afterEach(() => vi.unstubAllEnvs())

test('a named range is days and months of the zone, or a while up to now', () => {
  expect(named('24h')).toEqual(['2026-11-18T01:30:00', ''])
  expect(named('today')).toEqual(['2026-11-19T00:00:00', ''])
  expect(named('yesterday')).toEqual(['2026-11-18T00:00:00', '2026-11-18T23:59:59'])
  expect(named('last-month')).toEqual(['2026-10-01T00:00:00', '2026-10-31T23:59:59'])
  // The zone of the browser.
  vi.stubEnv('TZ', 'America/New_York')
  expect(named('yesterday', 'America/New_York')[0]).toBe('2026-11-17T00:00:00')
  for (const { value } of RANGES) expect(resolveRange(value, NOW, ZONE)).toBeDefined()
  expect(resolveRange('never', NOW, 'UTC')).toBeUndefined()
})

test('days of a calendar are whole, also those on which clocks are changed', () => {
  // Clocks go back on 25 October 2026, so the range has an hour more than seven days.
  const [since, until] = [Date.UTC(2026, 9, 20, 9), Date.UTC(2026, 9, 26, 9)]
  const days = toDays(since, until, ZONE)
  const range = days === null ? undefined : wholeDays(days, ZONE)
  expect(texts(range, ZONE)).toEqual(['2026-10-20T00:00:00', '2026-10-26T23:59:59'])
  expect((range?.untilMs ?? 0) - (range?.sinceMs ?? 0) + 1).toBe(169 * 3_600_000)
  expect([toDays(until, since, ZONE), toDays(since, undefined, ZONE)]).toEqual([null, null])
})
