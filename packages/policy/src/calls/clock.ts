// Time as an argument. `wallMs` is for people and for expressions (`now`). `monotonicMs` drives the
// sliding windows, so that setting the system clock resets no quota.

/**
 * A moment by both clocks.
 *
 * @example
 * ```ts
 * const now: Instant = { wallMs: Date.now(), monotonicMs: performance.now() }
 * ```
 */
export interface Instant {
  readonly wallMs: number
  readonly monotonicMs: number
}
