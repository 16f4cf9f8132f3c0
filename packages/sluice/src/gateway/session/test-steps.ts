// One search through a long text, in steps: the search of a message of 16 MB takes up to 100 ms. Used by
// strip-gate-tokens.ts and spaced-tokens.ts.

import type { Steps } from '@sluice/policy/core/steps'
import { STEP_CHARS } from './limits.ts'

/** More than the longest match of the patterns that are given here: 14 letters with gaps of 12. A match may
 * lie over the end of a step. */
const OVERLAP_CHARS = 256

/** Whether `pattern` matches in `text` from `start` to `end`. It must have no anchors and no lookbehind,
 * and no flag that keeps its place. */
export function* testSteps(
  pattern: RegExp,
  text: string,
  start = 0,
  end = text.length,
): Steps<boolean> {
  for (let from = start; from < end; from += STEP_CHARS) {
    if (from > start) yield
    if (pattern.test(text.slice(from, Math.min(end, from + STEP_CHARS + OVERLAP_CHARS))))
      return true
  }
  return false
}
