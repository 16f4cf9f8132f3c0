// Limits of approvals, by name and unit. What exceeds one is refused with the reason; nothing is
// dropped silently.

/**
 * Pending approvals of one session. A further call that needs approval is refused with
 * `APPROVAL_LIMITED`.
 */
export const OPEN_PER_SESSION_MAX = 20
/**
 * Pending approvals of one tool in one session; of a tool that takes a command line, of the calls that start the
 * same programs. A further call that needs approval is refused with `APPROVAL_LIMITED`.
 */
export const OPEN_PER_TOOL_MAX = 5
/**
 * Pending approvals in total. A further call that needs approval is refused with
 * `APPROVAL_LIMITED`.
 */
export const OPEN_MAX = 10_000
/**
 * Denials of one tool in a session, after which the tool is blocked there until a person unblocks
 * it.
 */
export const DENIALS_MAX = 3
/** Pairs of a session and a tool whose denials are stored; the oldest is dropped. */
export const DENIALS_KEPT_MAX = 10_000
/** How long after its approval a call may be retried. */
export const UNUSED_MS_MAX = 3_600_000
/**
 * How far in the future a pending or standing approval may have been created, at a start. One that
 * is further ahead was created before the clock was set back, and ends.
 */
export const CLOCK_AHEAD_MS_MAX = 60_000
/**
 * How long after the call that used an approval was answered an identical call is told so, instead of requesting a new
 * approval.
 */
export const REPEAT_REFUSED_MS = 10_000
/**
 * Length of a call that is shown to approvers. A longer one that needs approval is refused with
 * `APPROVAL_LIMITED`.
 */
export const ARGS_LENGTH_MAX = 163_840
/** Characters of a client's program that are shown to approvers beside the call that it made. */
export const PROGRAM_SHOWN_LENGTH_MAX = 4_000
/** Characters of the programs of a command line by which its calls are counted. */
export const START_SHOWN_LENGTH_MAX = 200
/** Masked parts of one call that are listed one by one; all of them are counted. */
export const MASKED_PARTS_MAX = 100
/**
 * Commas and colons of a call that is shown to approvers: about as many values. A call with more
 * that needs approval is refused with `APPROVAL_LIMITED`.
 */
export const HELD_MARKS_MAX = 10_000
/** Earlier calls of the session that an approval request shows. */
export const BEFORE_MAX = 10
/** Ledger records that are read to find the earlier calls of the session. */
export const BEFORE_RECORDS_MAX = 500
/** Length of an approver's comment. A longer one is refused. */
export const COMMENT_LENGTH_MAX = 1_000
/** Requests on one page of a list. */
export const LISTED_MAX = 1_000
/** Length of the calls on one page of a list together. The page ends before it; `before` reads on. */
export const LISTED_LENGTH_MAX = 16_777_216
/** Requests on one page of a list, unless `limit` says otherwise. */
export const LISTED_DEFAULT = 100
/** Decided requests that are kept for display; the ledger keeps all. */
export const DECIDED_KEPT_MAX = 10_000
/** How long a standing approval may last. A longer one is refused. */
export const STANDING_MS_MAX = 86_400_000
/** Standing approvals at once. A further one is refused. */
export const STANDING_MAX = 1_000
/** Values that one bound of a standing approval may list. */
export const STANDING_VALUES_MAX = 100
/** Requests whose decrypted view is cached for lists. */
export const SHOWN_KEPT_MAX = 2_000
/** Length of the calls in these views together. */
export const SHOWN_KEPT_LENGTH_MAX = 33_554_432
/** How long one channel may take to deliver a notification. Beyond it, it counts as failed. */
export const NOTIFY_MS_MAX = 10_000
/** Requests whose approvers are notified concurrently; others wait. */
export const NOTIFYING_MAX = 16
/**
 * Longest interval between two checks for expired requests: timers are late on a machine that
 * slept.
 */
export const EXPIRY_LOOK_MS_MAX = 30_000
/** Pause before expiry is recorded again, if that failed. */
export const EXPIRY_AGAIN_MS = 5_000
/** Expired requests that are ended together; decisions of approvers may come between. */
export const EXPIRED_PER_TURN = 32
/** Pause before requests are ended again that could not be. */
export const CHANGE_AGAIN_MS = 5_000
