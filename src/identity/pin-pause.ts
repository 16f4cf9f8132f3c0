// How long nobody may try after wrong PINs: five are free, then a pause that doubles with every
// further one. A PIN of six digits then lasts for decades against somebody who tries them all.

import { PIN_PAUSE_FIRST_MS, PIN_PAUSE_MS_MAX, PIN_TRIES } from './limits.ts'

/** Zero where the next try may come at once. */
export function pauseAfter(wrong: number): number {
  if (wrong < PIN_TRIES) return 0
  return Math.min(PIN_PAUSE_MS_MAX, PIN_PAUSE_FIRST_MS * 2 ** Math.min(20, wrong - PIN_TRIES))
}

export function waitText(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000))
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
