// Periods up to now that figures and calls are shown for.

const HOUR_MS = 3_600_000

/** How often what is shown for a period is asked for again. */
export const REFRESH_MS = 10_000

export const PERIODS = [
  { value: '1h', says: 'Last hour', ms: HOUR_MS, before: 'the hour before' },
  { value: '24h', says: '24 hours', ms: 24 * HOUR_MS, before: 'the 24 hours before' },
  { value: '7d', says: '7 days', ms: 7 * 24 * HOUR_MS, before: 'the 7 days before' },
  { value: '30d', says: '30 days', ms: 30 * 24 * HOUR_MS, before: 'the 30 days before' },
] as const
