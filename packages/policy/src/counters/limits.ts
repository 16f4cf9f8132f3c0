// Bounds of the in-memory counters, by name and unit. A counter that reaches one becomes
// stricter, never looser.

/** Events one counter keeps. Beyond it neighbours are merged into the later one: tighter, never
 * looser. A rate limit's `max` is at most this, so only tiny amounts of money ever meet it. */
export const COUNTER_EVENTS_MAX = 1_000_000

/** Counters of one limit, whose key may have an argument in it that a caller is free to choose. Past it
 * a call that would need one more is refused until some have left their window. */
export const COUNTERS_PER_LIMIT_MAX = 100_000

/** How often counters whose window is over are looked for where a limit is full of them. */
export const COUNTERS_SWEEP_MS = 1_000
