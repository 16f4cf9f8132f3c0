// The weight of a character that a pattern reads. RE2 matches most patterns with a table, in tens
// of nanoseconds a character. A pattern with many wide positions (`.{40}`, `[ab]{14}`) has too many
// states for a table, and then every step is tried on every character: 333 ms were measured on
// 8,192 adversarial characters.

import { MATCH_STEP_WEIGHT, MATCH_WEIGHT, MATCH_WIDE_MAX } from '../language/limits.ts'
import { patternSteps } from './pattern-steps.ts'

const COUNTED = /\{(\d+)(?:,(\d*))?\}/g
/** Any character, a class, or a choice in brackets. */
const WIDE = /\\[wWdDsSpP]|[.[]|\([^()]*\|[^()]*\)/g

export function matchWeight(pattern: string): number {
  const counts = [...pattern.matchAll(COUNTED)].map(([, least, most]) => Number(most || least))
  const wide = pattern.match(WIDE)?.length ?? 0
  const places = counts.reduce((sum, count) => sum + count, wide)
  if (places <= MATCH_WIDE_MAX) return MATCH_WEIGHT
  return Math.max(MATCH_WEIGHT, MATCH_STEP_WEIGHT * patternSteps(pattern))
}
