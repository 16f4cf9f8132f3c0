// A stretch of time, and the one that the overview compares it with. Pure.

export interface TimeRange {
  readonly sinceMs: number
  /** Exclusive. */
  readonly untilMs: number
}

/** As long, and right before it. */
export function getPeriodBefore({ sinceMs, untilMs }: TimeRange): TimeRange {
  return { sinceMs: sinceMs - Math.max(1, untilMs - sinceMs), untilMs: sinceMs }
}
