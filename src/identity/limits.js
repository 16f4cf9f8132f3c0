// Bounds of who may call, by name and unit. Slots times `max` is the most a principal gets in a
// window, whatever it sends.
/** A slot without a call for so long begins anew, with fresh counters and labels. */
export const SLOT_IDLE_MS = 30 * 60_000
/** Slots of the local user; a grant has one unless it says more. */
export const LOCAL_SLOTS = 4
