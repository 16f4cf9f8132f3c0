// Bounds of the in-memory counters, by name and unit. A counter that reaches one becomes
// stricter, never looser.

/**
 * Events stored by one counter. Beyond it, neighbours are merged into the later one: stricter,
 * never looser. A rate limit's `max` is at most this, so only tiny amounts of money ever reach it.
 */
export const COUNTER_EVENTS_MAX = 1_000_000

/**
 * Counters of one limit, whose key may contain an argument that the caller chooses. Beyond it, a
 * call that would need another counter is refused until some have expired.
 */
export const COUNTERS_PER_LIMIT_MAX = 100_000

/** How often a full limit is swept for expired counters. */
export const COUNTERS_SWEEP_MS = 50
/** Counters that are swept at a time: a few milliseconds. */
export const COUNTERS_SWEPT_MAX = 5_000
