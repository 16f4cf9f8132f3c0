// Limits of approvals, by name and unit. What exceeds one is refused with the reason; nothing is
// dropped silently.

/** Pending requests: of one session, of one tool in it, and in total. */
export const OPEN_PER_SESSION_MAX = 20
export const OPEN_PER_TOOL_MAX = 5
export const OPEN_MAX = 10_000
/** Denials of one tool in a session, after which it is blocked there until a person unblocks it. */
export const DENIALS_MAX = 3
/** Sessions and tools whose denials are stored. */
export const DENIALS_KEPT_MAX = 10_000
/** How long an approved call may take to be retried. */
export const UNUSED_MS_MAX = 3_600_000
/**
 * How far ahead of the clock a request or a standing approval may have been created, at a start:
 * more means that the clock was set back since, and it is ended.
 */
export const CLOCK_AHEAD_MS_MAX = 60_000
/**
 * How long after its use an identical call is answered that the approval was used, instead of
 * requesting a new one.
 */
export const USED_SHOWN_MS = 10_000
/** Size of a call that is shown to approvers, in UTF-16 code units. */
export const ARGS_LENGTH_MAX = 163_840
/** Masked parts of one call that are listed one by one; all of them are counted. */
export const MASKED_PARTS_MAX = 100
/** Commas and colons of a call that is shown to approvers: about as many values. */
export const HELD_MARKS_MAX = 10_000
/** Earlier calls of the session that are shown, and how many records are read for them. */
export const BEFORE_MAX = 10
export const BEFORE_RECORDS_MAX = 500
export const COMMENT_LENGTH_MAX = 1_000
/** Requests in one page of a list. */
export const LISTED_MAX = 1_000
export const LISTED_DEFAULT = 100
/** Decided requests that are retained for display; the ledger has all. */
export const DECIDED_KEPT_MAX = 10_000
/** A standing approval: how long, how many concurrently, values of one bound. */
export const STANDING_MS_MAX = 86_400_000
export const STANDING_MAX = 1_000
export const STANDING_VALUES_MAX = 100
/** Requests whose view is cached, so that a list need not unseal each again. */
export const SHOWN_KEPT_MAX = 2_000
/** Timeout of one channel's notification. */
export const TELL_MS_MAX = 10_000
/** Requests that are notified concurrently; the others are queued. */
export const TELLING_MAX = 16
/** Maximum interval between expiry checks: a machine that slept wakes with late timers. */
export const EXPIRY_LOOK_MS_MAX = 30_000
/** Retry interval if expiry could not be recorded. */
export const EXPIRY_AGAIN_MS = 5_000
