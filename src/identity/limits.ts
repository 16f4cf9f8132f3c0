// Bounds of who may call, by name and unit. Slots times `max` is the most a principal gets in a
// window, whatever it sends.

/** A slot without a call for so long begins anew, with fresh counters and labels. */
export const SLOT_IDLE_MS = 30 * 60_000
/** Slots of the local user; a grant has one unless it says more. */
export const LOCAL_SLOTS = 4
export const GRANT_SLOTS = 1
export const GRANT_SLOTS_MAX = 64

/** Grants of one installation, the revoked ones too. */
export const GRANTS_MAX = 10_000
export const GRANT_GROUPS_MAX = 64
/** How often the last use of a grant is written down, at most. */
export const LAST_USED_EVERY_MS = 60_000

/** A handle of a server's that is sealed for a client. */
export const HANDLE_BYTES_MAX = 64 * 1_024
