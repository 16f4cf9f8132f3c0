// How long nobody may try after wrong PINs: five are free, then a pause that doubles with every
// further one. A PIN of six digits then lasts for decades against somebody who tries them all.

import { PIN_PAUSE_FIRST_MS, PIN_PAUSE_MS_MAX, PIN_TRIES } from '../limits.ts'
import type { MachineClock } from './machine-clock.ts'

/** Zero where the next try may come at once. */
export function pauseAfter(wrong: number): number {
  if (wrong < PIN_TRIES) return 0
  return Math.min(PIN_PAUSE_MS_MAX, PIN_PAUSE_FIRST_MS * 2 ** Math.min(20, wrong - PIN_TRIES))
}

/** What is kept of a pause: when it ends by the wall clock, and by the machine's own in one boot. */
export interface KeptPause {
  /** Since the last right one. */
  readonly wrongPins: number
  readonly pausedUntilMs: number
  readonly pausedBoot: string
  readonly pausedUntilUpMs: number
}

/** How long a pause still lasts. By the clock that nobody can set, unless the machine was started again
 * since; never longer than the pause was at first, whatever became of a clock. */
export function pauseLeft(
  { wrongPins, pausedUntilMs, pausedBoot, pausedUntilUpMs }: KeptPause,
  nowMs: number,
  { boot, upMs }: MachineClock,
): number {
  const isSameBoot = boot !== '' && boot === pausedBoot
  const left = isSameBoot ? pausedUntilUpMs - upMs() : pausedUntilMs - nowMs
  return Math.max(0, Math.min(left, pauseAfter(wrongPins)))
}

export function waitText(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000))
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
