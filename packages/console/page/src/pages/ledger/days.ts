// Ranges of time as days of a calendar, in the zone that is shown. Pure; loaded with the calendar.

import { type CalendarDate, fromAbsolute, toCalendarDate } from '@internationalized/date'
import type { TimeRange } from './range.ts'

/** A range of days as a calendar has it. */
export interface Days {
  readonly start: CalendarDate
  readonly end: CalendarDate
}

/** From the start of the first day to the end of the last one. */
export function wholeDays({ start, end }: Days, zone: string): Required<TimeRange> {
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
): Days | null {
  if (since === undefined || until === undefined || since > until) return null
  const toDay = (ms: number) => toCalendarDate(fromAbsolute(ms, zone))
  return { start: toDay(since), end: toDay(until) }
}
