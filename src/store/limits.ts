// Every bound of the stores, by name and unit. Whatever meets one gets tighter by it, never
// looser.

/** Events one counter keeps. Beyond it neighbours are merged into the later one: tighter, never
 * looser. A rate limit's `max` is at most this, so only tiny amounts of money ever meet it. */
export const COUNTER_EVENTS_MAX = 1_000_000
