// Ranges of time that are named: `24h` up to now, or days and months of the zone that is shown. The name stays in the
// address, so that a link means the same range tomorrow. Pure.

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

/** Undefined if there is no range of this name. `zone` is UTC, or that of the browser. */
export function resolveRange(name: string, nowMs: number, zone: string): TimeRange | undefined {
  const period = PERIODS.find(({ value }) => value === name)
  if (period !== undefined) return { sinceMs: nowMs - period.ms }
  const now = new Date(nowMs)
  const isUtc = zone === 'UTC'
  const [year, month, day] = isUtc
    ? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
    : [now.getFullYear(), now.getMonth(), now.getDate()]
  const startOf = (inMonth: number, onDay: number) =>
    isUtc ? Date.UTC(year, inMonth, onDay) : new Date(year, inMonth, onDay).getTime()
  switch (name) {
    case 'today':
      return { sinceMs: startOf(month, day) }
    case 'yesterday':
      return { sinceMs: startOf(month, day - 1), untilMs: startOf(month, day) - 1 }
    case 'month':
      return { sinceMs: startOf(month, 1) }
    case 'last-month':
      return { sinceMs: startOf(month - 1, 1), untilMs: startOf(month, 1) - 1 }
    default:
      return undefined
  }
}
