// Ranges of time that are named: `24h` up to now, or days and months of the zone that is shown. The name stays in the
// address, so that a link means the same range tomorrow. Pure.

import {
  type CalendarDate,
  fromAbsolute,
  startOfMonth,
  toCalendarDate,
} from '@internationalized/date'
import { PERIODS } from '../../ui/periods.ts'

export interface TimeRange {
  readonly sinceMs: number
  /** Undefined: up to now. */
  readonly untilMs?: number | undefined
}

export const RANGES = [
  ...PERIODS,
  { value: 'today', says: 'Today' },
  { value: 'yesterday', says: 'Yesterday' },
  { value: 'month', says: 'This month' },
  { value: 'last-month', says: 'Last month' },
] as const

/** Undefined if there is no range of this name. `zone` is an IANA name. */
export function resolveRange(name: string, nowMs: number, zone: string): TimeRange | undefined {
  const period = PERIODS.find(({ value }) => value === name)
  if (period !== undefined) return { sinceMs: nowMs - period.ms }
  const today = toCalendarDate(fromAbsolute(nowMs, zone))
  const month = startOfMonth(today)
  switch (name) {
    case 'today':
      return { sinceMs: startOf(today, zone) }
    case 'yesterday':
      return wholeDays(
        { start: today.subtract({ days: 1 }), end: today.subtract({ days: 1 }) },
        zone,
      )
    case 'month':
      return { sinceMs: startOf(month, zone) }
    case 'last-month':
      return wholeDays(
        { start: month.subtract({ months: 1 }), end: month.subtract({ days: 1 }) },
        zone,
      )
    default:
      return undefined
  }
}

/** A range of days as a calendar has it. */
export interface DayRange {
  readonly start: CalendarDate
  readonly end: CalendarDate
}

/** From the start of the first day to the end of the last one. */
export function wholeDays({ start, end }: DayRange, zone: string): Required<TimeRange> {
  return { sinceMs: startOf(start, zone), untilMs: startOf(end.add({ days: 1 }), zone) - 1 }
}

function startOf(day: CalendarDate, zone: string): number {
  return day.toDate(zone).getTime()
}

/** The days of a range; null if it is not limited at both ends. */
export function toDays(
  since: number | undefined,
  until: number | undefined,
  zone: string,
): DayRange | null {
  if (since === undefined || until === undefined || since > until) return null
  const toDay = (ms: number) => toCalendarDate(fromAbsolute(ms, zone))
  return { start: toDay(since), end: toDay(until) }
}
