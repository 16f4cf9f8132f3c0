// Limits of the operations, by name and unit: what they read of the ledger, list and accept.

/** Newest recorded calls from which a policy is suggested. */
export const SUGGEST_CALLS_MAX = 50_000
/**
 * Folds of the cross-validation, over the days of these calls, that measures a suggested policy.
 */
export const SUGGEST_FOLDS_MAX = 10
/** Different values of an argument that a suggested policy lists as choices. */
export const SUGGEST_WORDS_MAX = 8

/** Length of the name of a server, principal or agent that is frozen. A longer one is refused. */
export const FREEZE_ID_LENGTH_MAX = 256
/** Length of the reason of a freeze. A longer one is refused. */
export const FREEZE_WHY_LENGTH_MAX = 500
/** Changed decisions that a replay lists; all are counted. */
export const REPLAY_ROWS_MAX = 1_000
/** Ledger records that a replay names for each changed decision. */
export const REPLAY_EXAMPLES_MAX = 3
/** Approval requests that a command lists, unless `limit` says otherwise. */
export const APPROVALS_LISTED_MAX = 500
/** Held calls that one verdict denies. */
export const DENIED_AT_ONCE_MAX = 500
/** Largest `limit` of a list of approval requests. */
export const APPROVALS_PAGE_MAX = 1_000
/** How long a request for news of approvals waits for a change. */
export const APPROVALS_NEWS_MS = 20_000
/** Length of the reason why a definition is refused. A longer one is not accepted. */
export const REFUSAL_LENGTH_MAX = 500
/** Digests of arguments that one request asks for. */
export const DIGESTS_KEYED_MAX = 1_000
