// Bounds of the admin API, by name and unit. What a page may ask for is bounded with its endpoint's
// shape; this is what everybody together may take.

/** Body of a request to `/api`. A larger one is refused. */
export const API_BODY_BYTES_MAX = 1_024 * 1_024
/** How long a sign-in to the console lasts. */
export const SIGN_IN_MS = 12 * 60 * 60_000
/** Sign-ins to the console at once; the oldest is dropped. */
export const SIGN_INS_MAX = 1_000
/** How long a one-time code of `sluice console` is valid. */
export const CODE_MS = 2 * 60_000
/** How long the one-time code for a newly added person is valid. */
export const INVITATION_MS = 24 * 60 * 60_000
/** How long an external sign-in (OIDC) lasts. The groups are read again at the next one. */
export const GUEST_MS = 60 * 60_000
/**
 * Codes that are being exchanged at authorisation servers at once. Further external sign-ins are
 * refused.
 */
export const EXCHANGES_MAX = 16
/** How long after an external sign-in a person may add a first passkey. */
export const GUEST_FRESH_MS = 5 * 60_000
/** How long a person may take to sign in at a server. */
export const CONNECT_MS = 15 * 60_000
/** Sign-ins at servers that are under way; the oldest is dropped. */
export const CONNECTIONS_MAX = 1_000
/** One-time codes that are valid at once; the oldest is dropped. */
export const CODES_MAX = 1_000
/** How long a passkey challenge is valid: the time to touch a key. */
export const CHALLENGE_MS = 2 * 60_000
/** Open passkey challenges for proofs, and used ones for signing in; the oldest is dropped. */
export const CHALLENGES_MAX = 1_000
/** Open passkey challenges of one person; the oldest is dropped. */
export const CHALLENGES_PER_PERSON_MAX = 16
/** Length of the passkey assertion in the header `Sluice-Proof`. A longer one is refused. */
export const ASSERTION_LENGTH_MAX = 16_384

/** Event streams that are open at once. A further one is refused. */
export const STREAMS_MAX = 200
/**
 * Event streams of one person that are open at once; a page has up to two. A further one is
 * refused.
 */
export const STREAMS_PER_PERSON_MAX = 24
/** How often an event stream is sent a keep-alive. */
export const STREAM_PULSE_MS = 15_000
/**
 * Bytes that a slow reader of an event stream has not taken yet. Beyond it the stream is closed.
 */
export const STREAM_BEHIND_BYTES_MAX = 4 * 1_024 * 1_024
/** Evaluations in one request of AuthZEN. A request with more is refused. */
export const EVALUATIONS_MAX = 100
/** Length from which an answer of the API is compressed. */
export const ZIPPED_LENGTH_MIN = 1_000
