// Ranges of time that are named: `24h` up to now, or days and months of the zone that is shown. The name stays in the
// address, so that a link or a view means the same range tomorrow. Pure.

export interface TimeRange {
  readonly sinceMs: number
  /** Undefined: up to now. */
  readonly untilMs?: number | undefined
}

const HOUR_MS = 3_600_000

export const RANGES = [
  { value: '1h', says: 'Last hour' },
  { value: '24h', says: '24 hours' },
  { value: '7d', says: '7 days' },
  { value: '30d', says: '30 days' },
  { value: 'today', says: 'Today' },
  { value: 'yesterday', says: 'Yesterday' },
  { value: 'month', says: 'This month' },
  { value: 'last-month', says: 'Last month' },
] as const

/** Undefined if there is no range of this name. */
export function resolveRange(name: string, nowMs: number, isUtc: boolean): TimeRange | undefined {
  const [, amount, unit] = /^(\d{1,4})([hd])$/.exec(name) ?? []
  if (amount !== undefined)
    return { sinceMs: nowMs - Number(amount) * (unit === 'h' ? HOUR_MS : 24 * HOUR_MS) }
  const now = new Date(nowMs)
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

/** What may be typed, as an example. */
export const TIME_FORM = '2026-10-01 12:30'
const TYPED = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?$/

/** A time as it is typed, `2026-10-01` or `2026-10-01 12:30`; without a time of day the start or the end of the day. */
export function readTime(
  text: string,
  { isUtc, isEnd }: { readonly isUtc: boolean; readonly isEnd: boolean },
): number | undefined {
  const [whole, year = '', month = '', day = '', hours, minutes = '0', seconds] =
    TYPED.exec(text.trim()) ?? []
  if (whole === undefined) return undefined
  const parts = [
    Number(year),
    Number(month) - 1,
    Number(day) + (hours === undefined && isEnd ? 1 : 0),
    Number(hours ?? 0),
    Number(minutes),
    Number(seconds ?? 0),
  ] as const
  const ms = isUtc ? Date.UTC(...parts) : new Date(...parts).getTime()
  if (!isEnd) return ms
  // The whole of what is named: a day, a minute or a second.
  const restMs = hours === undefined ? 0 : seconds === undefined ? 60_000 : 1_000
  return ms + restMs - 1
}

/** As `readTime` reads it, to the second. */
export function writeTime(ms: number, isUtc: boolean): string {
  const aheadMs = isUtc ? 0 : new Date(ms).getTimezoneOffset() * 60_000
  return new Date(ms - aheadMs).toISOString().slice(0, 19).replace('T', ' ')
}
