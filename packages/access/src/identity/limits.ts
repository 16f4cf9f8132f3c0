// Limits of callers, by name and unit. `sessions.max` times `max` of a limit is the most that a
// principal gets in `sessions.window`, whatever it sends.

/** Default of `sessions.idle`: a session ends this long after its last connection. */
export const AGENT_SESSION_IDLE_MS = 30 * 60_000
/** Default of `sessions.window`. */
export const AGENT_SESSIONS_WINDOW_MS = 60 * 60_000
/** Largest `sessions.idle` and `sessions.window`. */
export const AGENT_SESSIONS_SECONDS_MAX = 31 * 86_400
/** The session of an agent's family ends this long after its last call. */
export const FAMILY_SESSION_IDLE_MS = 31 * 86_400_000
/** Connections whose keys a shared session remembers; the oldest is dropped. */
export const SESSION_KEYS_MAX = 64
/** Characters of a client's name and version that are stored. */
export const SESSION_CLIENT_LENGTH_MAX = 80
/** Principals that are kept in memory before those without sessions are removed. */
export const SESSION_PRINCIPALS_KEPT = 1_000
/**
 * Principals beyond `SESSION_PRINCIPALS_KEPT` that are looked at for each new one, so that they become fewer
 * if they have no sessions.
 */
export const SWEPT_PER_PRINCIPAL = 4
/** How often ended sessions are removed. */
export const SESSION_SWEEP_EVERY_MS = 60_000

/**
 * How far in the future a stored sign-in may begin, and an approver may have been added. What is
 * further ahead was created before the clock was set back: the sign-in ends, the approver counts as
 * added with the next verdict.
 */
export const STORED_AHEAD_MS_MAX = 60_000

/** How long grants are cached: requests that arrive together are checked together. */
export const GRANTS_FRESH_MS = 10
/** Grants of one installation, including revoked ones. A further one is refused. */
export const GRANTS_MAX = 10_000
/** How often the last use of a grant is stored, at most. */
export const LAST_USED_EVERY_MS = 60_000

/** Last uses of grants that are stored at a time. */
export const LAST_USES_STORED_MAX = 500

// Authorisation servers.

/** How long one request to an authorisation server may take. */
export const FETCH_MS_MAX = 10_000
/** Size of an authorisation server's response. A larger one is refused. */
export const FETCH_BYTES_MAX = 256 * 1_024
/** Clock skew between an authorisation server and the gate that is tolerated. */
export const CLOCK_SKEW_S = 30
/** How long the keys and metadata of an authorisation server are cached. */
export const KEYS_KEPT_MS = 10 * 60_000
/** Age that cached keys must have before an unknown key makes the gate fetch them again. */
export const KEYS_COOLDOWN_MS = 30_000
/** Pause after a failed request to an authorisation server, before the next one. */
export const FAILED_FETCH_REST_MS = 5_000
/** Verified access tokens that are cached; the least recently used is dropped. */
export const CHECKED_MAX = 1_000
/** How long a verified access token is cached. */
export const CHECKED_KEPT_MS = 60_000

/** How long a person may take to sign in at an authorisation server. */
export const SIGN_IN_THERE_MS = 10 * 60_000
/** Used responses of authorisation servers that are remembered, so that none is used twice. */
export const SIGN_IN_STATES_USED_MAX = 1_000

/** Length of a token that the gate sends to a server. A longer one is refused. */
export const TOKEN_LENGTH_MAX = 16_384
/** Life of a client assertion (`private_key_jwt`), in seconds. */
export const CLIENT_ASSERTION_S = 60
/** Size of a file that `${file:…}` names. A larger one is refused. */
export const SECRET_BYTES_MAX = 64 * 1_024
/** How long the text of `${file:…}` is used before its file is read again. */
export const SECRET_FRESH_MS = 500
/** Tokens of servers whose renewal is watched; the least recently used is dropped. Stored ones, too. */
export const CREDENTIALS_MAX = 10_000
/** How often tokens that have ended are removed. */
export const CREDENTIAL_SWEEP_EVERY_MS = 60_000
/** Pause before the gate asks for another token after a server refused a fresh one; doubled each time. */
export const CREDENTIAL_REST_MS = 30_000
/** Longest such pause. */
export const CREDENTIAL_REST_MS_MAX = 10 * 60_000
/** How long before its expiry a token of a server is renewed; some live shortly. */
export const RENEW_AHEAD_MS = 10_000

/**
 * Size of a server's handle, such as a cursor, that is sealed for a client. A larger one is
 * refused.
 */
export const HANDLE_BYTES_MAX = 64 * 1_024
/**
 * Principals with access tokens that are remembered, so that their agents may continue to call
 * while the token is valid.
 */
export const CALLERS_SEEN_MAX = 10_000

// Approvers.

/** Approvers of one installation. A further one is refused. */
export const PEOPLE_MAX = 1_000
/** Passkeys of one person. A further one is refused. */
export const PASSKEYS_EACH_MAX = 16
/** Length of a PIN, at least. */
export const PIN_LENGTH_MIN = 6
/** Length of a PIN, at most. */
export const PIN_LENGTH_MAX = 64
/** Cost parameter of scrypt for PINs: 64 MiB and a fifth of a second per attempt. */
export const PIN_SCRYPT_COST = 2 ** 16
/** Wrong PINs after which further attempts have to wait. */
export const PIN_TRIES = 5
/** First pause after too many wrong PINs; it doubles with each further one. */
export const PIN_PAUSE_FIRST_MS = 60_000
/** Longest pause after wrong PINs. */
export const PIN_PAUSE_MS_MAX = 60 * 60_000

/**
 * Redacted secrets of one session that can be passed on by their placeholder. Further ones are only
 * redacted.
 */
export const SEALED_VALUES_MAX = 64
/**
 * Length of a secret that can be passed on by its placeholder; no private key in use is longer. A
 * longer one is only redacted.
 */
export const SEALED_VALUE_CHARS_MAX = 8_192
/**
 * Characters of all secrets that the placeholders of one call stand for. A call with more is
 * refused.
 */
export const OPENED_CHARS_MAX = 524_288
/**
 * Characters of secrets that are compared with one message. A message that needs more is withheld.
 */
export const ECHO_CHARS_MAX = 8_000_000
/**
 * Characters of secrets that are compared with a message that cannot be inspected in slices. A
 * message that needs more is withheld.
 */
export const ECHO_AT_ONCE_CHARS_MAX = 2_000_000
/** Cut-off parts of answers that one session can still read; the oldest is dropped. */
export const RESTS_MAX = 16
/**
 * Characters of all cut-off parts of answers that one session can still read; the oldest is
 * dropped.
 */
export const REST_CHARS_MAX = 4 * 1_048_576
/**
 * Memory for what all sessions remember of answers. Beyond it, the least recently used sessions are
 * unloaded; what was written is read again when they are used.
 */
export const PROVENANCE_BYTES_MAX = 256 * 1_048_576
/** Sessions whose fields of answers, as `last(...)` reads them, are in memory; those of others are read again. */
export const VALUES_SESSIONS_MAX = 1_000
/** Size to which the sessions' memory is reduced when it is over `PROVENANCE_BYTES_MAX`. */
export const PROVENANCE_BYTES_KEPT = 192 * 1_048_576
/** Sessions whose additions a gate stores in the shared store in one statement. */
export const SHARED_ANSWERS_AT_ONCE = 64
/**
 * Additions to what a session remembers of answers, as rows of the shared store. Past it, all that is
 * remembered replaces them.
 */
export const SHARED_ANSWER_ROWS_MAX = 64
/** The same by the size of the rows. */
export const SHARED_ANSWER_BYTES_MAX = 2_097_152
/** How long after a change a session's memory is written. */
export const MEMORY_WRITE_DELAY_MS = 2_000
/**
 * Bytes of sessions' memories that are written at a time; the rest follows after
 * `MEMORY_WRITE_DELAY_MS`.
 */
export const MEMORY_WRITTEN_BYTES_MAX = 8 * 1_048_576
/**
 * Newest calls of a session that conditions over its past see, at least. Up to twice as many are
 * kept.
 */
export const PAST_CALLS_MAX = 256
