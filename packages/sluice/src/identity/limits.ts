// Bounds of who may call, by name and unit. `sessions.max` times `max` of a limit is the most that a
// principal gets in `sessions.window`, whatever it sends.

/** `sessions.idle`: a session ends so long after its last connection. */
export const AGENT_SESSION_IDLE_MS = 30 * 60_000
/** `sessions.max` and `sessions.window`: sessions of one principal that can charge a limit within the window. */
export const AGENT_SESSIONS_MAX = 20
export const AGENT_SESSIONS_WINDOW_MS = 60 * 60_000
/** The most that `sessions` can be set to. */
export const AGENT_SESSIONS_SETTING_MAX = 1_000
export const AGENT_SESSIONS_SECONDS_MAX = 31 * 86_400
/** The session of an agent's family ends so long after its last call. */
export const FAMILY_SESSION_IDLE_MS = 31 * 86_400_000
/** Names under which a session is known: of connections that joined it past the quota. */
export const SESSION_KEYS_MAX = 64
/** What is kept of a client's own name and version. */
export const SESSION_CLIENT_LENGTH_MAX = 80
/** Principals without sessions that are kept before those that are over are looked for. */
export const SESSION_PRINCIPALS_KEPT = 1_000
/** How often sessions that have ended are removed. */
export const SESSION_SWEEP_EVERY_MS = 60_000

/** For so long what was read of the grants holds: requests that come together are checked together. */
export const GRANTS_FRESH_MS = 10
/** Grants of one installation, the revoked ones too. */
export const GRANTS_MAX = 10_000
export const GRANT_GROUPS_MAX = 64
/** How often the last use of a grant is written down, at most. */
export const LAST_USED_EVERY_MS = 60_000

// Authorisation servers.

/** One request to an authorisation server: how long, and how much of the answer is read. */
export const FETCH_MS_MAX = 10_000
export const FETCH_BYTES_MAX = 256 * 1_024
/** How far the clocks of an authorisation server and of the gate may be apart. */
export const CLOCK_SKEW_S = 30
/** Keys are fetched again after so long; a key nobody knows does so too, but not more often than
 * this. */
export const KEYS_KEPT_MS = 10 * 60_000
export const KEYS_COOLDOWN_MS = 30_000
/** After a fetch that failed nobody tries for so long. */
export const FAILED_FETCH_REST_MS = 5_000
/** Tokens that were verified and need not be again, in number and for how long. */
export const CHECKED_MAX = 1_000
export const CHECKED_KEPT_MS = 60_000

/** How long a person may take to sign in there, and how many answers are known again. */
export const SIGN_IN_THERE_MS = 10 * 60_000
export const SIGN_IN_STATES_USED_MAX = 1_000

/** A token that the gate sends to a server. */
export const TOKEN_LENGTH_MAX = 16_384
/** A login's token is renewed so long before it expires. */
export const RENEW_AHEAD_MS = 60_000

/** A handle of a server's that is sealed for a client. */
export const HANDLE_BYTES_MAX = 64 * 1_024
/** Principals with tokens whose agents may go on calling while the token holds. */
export const CALLERS_SEEN_MAX = 10_000

// People who decide.

export const PEOPLE_MAX = 1_000
export const PASSKEYS_EACH_MAX = 16
export const PIN_LENGTH_MIN = 6
export const PIN_LENGTH_MAX = 64
/** What a try costs: 64 MiB and a fifth of a second. */
export const PIN_SCRYPT_COST = 2 ** 16
/** Wrong PINs until there is a pause, how long the first is and how long the longest. */
export const PIN_TRIES = 5
export const PIN_PAUSE_FIRST_MS = 60_000
export const PIN_PAUSE_MS_MAX = 60 * 60_000
