// Limits of callers, by name and unit. `sessions.max` times `max` of a limit is the most that a
// principal gets in `sessions.window`, whatever it sends.

/** `sessions.idle`: a session ends this long after its last connection. */
export const AGENT_SESSION_IDLE_MS = 30 * 60_000
/** `sessions.max` and `sessions.window`: sessions of one principal that can charge a limit within the window. */
export const AGENT_SESSIONS_MAX = 20
export const AGENT_SESSIONS_WINDOW_MS = 60 * 60_000
/** The most that `sessions` can be set to. */
export const AGENT_SESSIONS_SETTING_MAX = 1_000
export const AGENT_SESSIONS_SECONDS_MAX = 31 * 86_400
/** The session of an agent's family ends this long after its last call. */
export const FAMILY_SESSION_IDLE_MS = 31 * 86_400_000
/** Names under which a session is known: of connections that joined it past the quota. */
export const SESSION_KEYS_MAX = 64
/** Stored length of a client's name and version. */
export const SESSION_CLIENT_LENGTH_MAX = 80
/** Principals without sessions that are stored before expired ones are swept. */
export const SESSION_PRINCIPALS_KEPT = 1_000
/** How often sessions that have ended are removed. */
export const SESSION_SWEEP_EVERY_MS = 60_000

/** How far a stored sign-in may lie ahead of the clock; one that lies further ends. */
export const SIGN_IN_AHEAD_MS_MAX = 60_000

/**
 * How long the grants that were read are considered current: requests that arrive together are
 * checked together.
 */
export const GRANTS_FRESH_MS = 10
/** Grants of one installation, including revoked ones. */
export const GRANTS_MAX = 10_000
export const GRANT_GROUPS_MAX = 64
/** Minimum interval between updates of a grant's last use. */
export const LAST_USED_EVERY_MS = 60_000

// Authorisation servers.

/** One request to an authorisation server: its timeout, and how much of the response is read. */
export const FETCH_MS_MAX = 10_000
export const FETCH_BYTES_MAX = 256 * 1_024
/** Maximum clock skew between an authorisation server and the gate. */
export const CLOCK_SKEW_S = 30
/**
 * Keys are fetched again after this long; an unknown key triggers it too, but not more often than
 * this.
 */
export const KEYS_KEPT_MS = 10 * 60_000
export const KEYS_COOLDOWN_MS = 30_000
/** After a failed fetch, no other is made for this long. */
export const FAILED_FETCH_REST_MS = 5_000
/** Cached verified tokens: how many, and for how long. */
export const CHECKED_MAX = 1_000
export const CHECKED_KEPT_MS = 60_000

/**
 * How long a sign-in at an authorisation server may take, and how many used responses are
 * remembered.
 */
export const SIGN_IN_THERE_MS = 10 * 60_000
export const SIGN_IN_STATES_USED_MAX = 1_000

/** A token that the gate sends to a server. */
export const TOKEN_LENGTH_MAX = 16_384
/** A login's token is refreshed this long before it expires. */
export const RENEW_AHEAD_MS = 60_000

/** A handle of a server's that is sealed for a client. */
export const HANDLE_BYTES_MAX = 64 * 1_024
/** Principals with tokens whose agents may continue to call while the token is valid. */
export const CALLERS_SEEN_MAX = 10_000

// Approvers.

export const PEOPLE_MAX = 1_000
export const PASSKEYS_EACH_MAX = 16
export const PIN_LENGTH_MIN = 6
export const PIN_LENGTH_MAX = 64
/** The cost of an attempt: 64 MiB and a fifth of a second. */
export const PIN_SCRYPT_COST = 2 ** 16
/** Wrong PINs until there is a pause, and the length of the first and the longest. */
export const PIN_TRIES = 5
export const PIN_PAUSE_FIRST_MS = 60_000
export const PIN_PAUSE_MS_MAX = 60 * 60_000

/** Redacted secrets of one session that may be passed on by their placeholder; more are only redacted. */
export const SEALED_VALUES_MAX = 64
/** Of one of them; a longer secret is only redacted. No private key in use is longer. */
export const SEALED_VALUE_CHARS_MAX = 8_192
/** Characters of sealed values that one call may have opened: a short placeholder may stand for a long value. */
export const OPENED_CHARS_MAX = 524_288
/** Characters of sealed values that are compared with one message: one that needs more was made to, and is
 * denied. */
export const ECHO_CHARS_MAX = 8_000_000
/** The same for a message that has to be looked through in one piece. */
export const ECHO_AT_ONCE_CHARS_MAX = 2_000_000
/** What was cut off of answers of one session and can be read on: how many, and their characters in all. */
export const RESTS_MAX = 16
export const REST_CHARS_MAX = 4 * 1_048_576
/**
 * What all sessions remember of answers together in memory. Beyond it, those used least recently leave
 * until so much is left.
 */
export const PROVENANCE_BYTES_MAX = 256 * 1_048_576
export const PROVENANCE_BYTES_KEPT = 192 * 1_048_576
/** What a session remembers is written this long after a change, at most so many bytes at a time. */
export const MEMORY_WRITE_DELAY_MS = 2_000
export const MEMORY_WRITTEN_BYTES_MAX = 8 * 1_048_576
/** Calls of a session that conditions over its past see at least; twice as many are kept. */
export const PAST_CALLS_MAX = 256
