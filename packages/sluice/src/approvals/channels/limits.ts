// Every bound of the messages to people, by name and unit. What is longer is cut, and says so. Read
// by the channels beside it.

export const TOLD_NAME_LENGTH_MAX = 128
export const TOLD_TEXT_LENGTH_MAX = 500
/** Arguments in a message, where it carries them; the page has all of them. */
export const TOLD_ARGS_LENGTH_MAX = 4_000
/** Calls before this one that a message names. */
export const TOLD_BEFORE_MAX = 5
/** Named approvers of one channel. */
export const TOLD_APPROVERS_MAX = 50
/** All tries of one message together: the next channel waits for it. */
export const TELLING_MS_MAX = 9_000
/** One try of a webhook, the pause after the first, which doubles, and how many there are. */
export const WEBHOOK_TRY_MS_MAX = 4_000
export const WEBHOOK_FIRST_PAUSE_MS = 500
export const WEBHOOK_TRIES_MAX = 4
/** How long a mail server may take to be reached, to greet and to answer. */
export const SMTP_MS_MAX = 4_000
/** Mails of one request that are sent at once. */
export const MAILS_AT_ONCE_MAX = 5
