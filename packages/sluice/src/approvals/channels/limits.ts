// Limits of notification messages, by name and unit. Longer text is truncated and says so. Used by
// the channels in this folder.

export const MESSAGE_NAME_LENGTH_MAX = 128
export const MESSAGE_TEXT_LENGTH_MAX = 500
/** Arguments in a message, if it includes them; the page has all of them. */
export const MESSAGE_ARGS_LENGTH_MAX = 4_000
/** Earlier calls that a message names. */
export const MESSAGE_PRIOR_CALLS_MAX = 5
/** Named approvers of one channel. */
export const MESSAGE_APPROVERS_MAX = 50
/** All attempts of one message together: the next channel waits for it. */
export const TELLING_MS_MAX = 9_000
/**
 * One attempt of a webhook, the delay after the first, which doubles, and the number of attempts.
 */
export const WEBHOOK_TRY_MS_MAX = 4_000
export const WEBHOOK_FIRST_PAUSE_MS = 500
export const WEBHOOK_TRIES_MAX = 4
/** How long a mail server may take to connect, to greet and to answer. */
export const SMTP_MS_MAX = 4_000
/** Mails of one request that are sent concurrently. */
export const MAILS_AT_ONCE_MAX = 5
