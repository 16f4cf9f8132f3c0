// Every bound of the approvals, by name and unit. What meets one is refused and told why; nothing of it
// is left out silently.

/** Requests that wait for a person: of one session, of one tool in it, and over all. */
export const OPEN_PER_SESSION_MAX = 20
export const OPEN_PER_TOOL_MAX = 5
export const OPEN_MAX = 10_000
/** Denials of one tool in a session, after which it is denied there until a person lifts that. */
export const DENIALS_MAX = 3
/** Sessions and tools whose denials are remembered. */
export const DENIALS_KEPT_MAX = 10_000
/** How long an approved call may take to come back. */
export const UNUSED_MS_MAX = 3_600_000
/** How far ahead of the clock a request or a standing approval may have been made, at a start: more means
 * that the clock was set back since, and it ends. */
export const CLOCK_AHEAD_MS_MAX = 60_000
/** How long after its use an identical call is told that the approval was used, not asked for anew. */
export const USED_TOLD_MS = 10_000
/** What a call may carry to be shown to people, in UTF-16 code units. */
export const ARGS_LENGTH_MAX = 1_048_576
/** Masked parts of one call that are listed one by one; all of them are counted. */
export const MASKED_PARTS_MAX = 100
/** Commas and colons of a call that is shown to people: about as many values. */
export const HELD_MARKS_MAX = 10_000
/** What the session did before, in calls, and how many records are read for it. */
export const BEFORE_MAX = 10
export const BEFORE_RECORDS_MAX = 500
export const COMMENT_LENGTH_MAX = 1_000
/** Requests in one answer to whoever lists them. */
export const LISTED_MAX = 1_000
export const LISTED_DEFAULT = 100
/** Decided requests that are kept for looking back; the record keeps all. */
export const DECIDED_KEPT_MAX = 10_000
/** An approval for a while: how long, how many at once, values of one bound. */
export const STANDING_MS_MAX = 86_400_000
export const STANDING_MAX = 1_000
export const STANDING_VALUES_MAX = 100
/** Requests that are kept as they are shown, so that a list need not open each anew. */
export const SHOWN_KEPT_MAX = 2_000
/** How long a channel may take to tell people. */
export const TELL_MS_MAX = 10_000
/** Requests that are being told at once; the others wait their turn. */
export const TELLING_MAX = 16
/** How often expiry is looked at, at the least: a machine that slept wakes with late timers. */
export const EXPIRY_LOOK_MS_MAX = 30_000
/** And again where they could not be ended. */
export const EXPIRY_AGAIN_MS = 5_000
