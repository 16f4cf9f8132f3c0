// Time as an argument. `wallMs` is for people and for expressions (`now`); `monotonicMs` is what
// windows run on, so that setting the machine's clock gives nobody a fresh budget.

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
