// How long attempts are blocked after wrong PINs: five are free, then a pause that doubles with
// every further one. A PIN of six digits then withstands a brute-force attack for decades.

import { PIN_PAUSE_FIRST_MS, PIN_PAUSE_MS_MAX, PIN_TRIES } from '../limits.ts'
import type { MachineClock } from './machine-clock.ts'

/** Zero if the next attempt is allowed immediately. */
export function pauseAfter(wrong: number): number {
  if (wrong < PIN_TRIES) return 0
  return Math.min(PIN_PAUSE_MS_MAX, PIN_PAUSE_FIRST_MS * 2 ** Math.min(20, wrong - PIN_TRIES))
}

/** A stored pause: when it ends by the wall clock, and by the machine's uptime in one boot. */
export interface KeptPause {
  /** Since the last correct one. */
  readonly wrongPins: number
  readonly pausedUntilMs: number
  readonly pausedBoot: string
  readonly pausedUntilUpMs: number
}

/**
 * How long a pause still lasts. By the monotonic clock, unless the machine was rebooted since;
 * never longer than the original pause, whatever the clock does.
 */
export function pauseLeft(
  { wrongPins, pausedUntilMs, pausedBoot, pausedUntilUpMs }: KeptPause,
  nowMs: number,
  { boot, upMs }: MachineClock,
): number {
  const isSameBoot = boot !== '' && boot === pausedBoot
  const left = isSameBoot ? pausedUntilUpMs - upMs() : pausedUntilMs - nowMs
  return Math.max(0, Math.min(left, pauseAfter(wrongPins)))
}
