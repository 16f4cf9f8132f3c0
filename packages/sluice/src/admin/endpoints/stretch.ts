// The stretch of time that a request names: the last `lengthMs`, a day unless said, or from `sinceMs` on.

import { z } from 'zod'

const number = z.coerce.number().int().min(0).optional()
export const STRETCH = z.strictObject({ sinceMs: number, untilMs: number, lengthMs: number })
const DAY_MS = 24 * 60 * 60_000

export function toStretch(
  query: z.infer<typeof STRETCH>,
  nowMs: number,
): { sinceMs: number; untilMs: number } {
  const { untilMs = nowMs, lengthMs = DAY_MS } = query
  const { sinceMs = Math.max(0, untilMs - lengthMs) } = query
  return { sinceMs, untilMs }
}
