// Limits of what operations read of the ledger.

/** Calls on record that a suggested policy is made of, the newest. */
export const SUGGEST_CALLS_MAX = 50_000
/** Parts in which the days of these calls are left out to measure the policy. */
export const SUGGEST_FOLDS_MAX = 10
/** Words of an argument that become a list of choices. */
export const SUGGEST_WORDS_MAX = 8
