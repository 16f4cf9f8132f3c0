// The stretch of time that a request names: the last `lengthMs`, a day unless said, or from `sinceMs` on.

import { COUNT } from '@sluice/access/identity/answer-shapes'
import type { FieldValues } from '@sluice/policy/document/shape'

export const STRETCH = {
  sinceMs: { shape: COUNT, doc: 'when it begins' },
  untilMs: { shape: COUNT, doc: 'when it ends; now unless said' },
  lengthMs: { shape: COUNT, doc: 'how long it is, without `sinceMs`; a day unless said' },
} as const
const DAY_MS = 24 * 60 * 60_000

export function toStretch(
  query: FieldValues<typeof STRETCH>,
  nowMs: number,
): { sinceMs: number; untilMs: number } {
  const { untilMs = nowMs, lengthMs = DAY_MS } = query
  const { sinceMs = Math.max(0, untilMs - lengthMs) } = query
  return { sinceMs, untilMs }
}
