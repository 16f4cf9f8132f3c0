// Limits of what operations read of the ledger.

/** Newest recorded calls from which a policy is suggested. */
export const SUGGEST_CALLS_MAX = 50_000
/**
 * Folds of the cross-validation, over the days of these calls, that measures a suggested policy.
 */
export const SUGGEST_FOLDS_MAX = 10
/** Different values of an argument that a suggested policy lists as choices. */
export const SUGGEST_WORDS_MAX = 8
