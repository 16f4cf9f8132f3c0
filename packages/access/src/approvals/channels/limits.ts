// Limits of notification messages, by name and unit. Longer text is truncated and says so. Used by
// the channels in this folder.

/** Characters of a server's or tool's name that a notification shows. */
export const MESSAGE_NAME_LENGTH_MAX = 128
/** Characters of one line of text, such as a reason, that a notification shows. */
export const MESSAGE_TEXT_LENGTH_MAX = 500
/**
 * Characters of a call's arguments that a notification shows, if it includes them. The page shows
 * all of them.
 */
export const MESSAGE_ARGS_LENGTH_MAX = 4_000
/** Earlier calls of the session that a notification lists. */
export const MESSAGE_PRIOR_CALLS_MAX = 5
/** Approvers that one channel may name. */
export const MESSAGE_APPROVERS_MAX = 50
/** How long all attempts of one channel to deliver a notification may take together. */
export const TELLING_MS_MAX = 9_000
/** How long one attempt to deliver a webhook may take. */
export const WEBHOOK_TRY_MS_MAX = 4_000
/** Pause after the first failed attempt to deliver a webhook; it doubles with each further one. */
export const WEBHOOK_FIRST_PAUSE_MS = 500
/** Attempts to deliver a webhook. */
export const WEBHOOK_TRIES_MAX = 4
/**
 * How long a mail server may take to be found, to accept the connection, to greet, and to respond.
 */
export const SMTP_MS_MAX = 4_000
/** Mails of one request that are sent concurrently. */
export const MAILS_AT_ONCE_MAX = 5
