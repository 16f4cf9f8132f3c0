/** A slot without a call for so long begins anew, with fresh counters and labels. */
export declare const SLOT_IDLE_MS: number
/** Slots of the local user; a grant has one unless it says more. */
export declare const LOCAL_SLOTS = 4
