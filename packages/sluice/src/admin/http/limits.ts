// Bounds of the admin API, by name and unit. What a page may ask for is bounded with its endpoint's
// shape; this is what everybody together may take.

export const API_BODY_BYTES_MAX = 1_024 * 1_024
/** How long a sign-in lasts, and how many there are at once. */
export const SIGN_IN_MS = 12 * 60 * 60_000
export const SIGN_INS_MAX = 1_000
/** A one-time code of `sluice console`. */
export const CODE_MS = 2 * 60_000
/** A one-time code for somebody who was added and has nothing yet. */
export const INVITATION_MS = 24 * 60 * 60_000
/** How long a sign-in at an authorisation server is valid: then its groups are requested again. */
export const GUEST_MS = 60 * 60_000
/** Codes of authorisation servers that are being exchanged at once. */
export const EXCHANGES_MAX = 16
/** How long after signing in elsewhere somebody may add a first passkey. */
export const GUEST_FRESH_MS = 5 * 60_000
export const CODES_MAX = 1_000
/** How long a person may take to touch a key, and how many may be about to. */
export const CHALLENGE_MS = 2 * 60_000
export const CHALLENGES_MAX = 1_000
export const CHALLENGES_PER_PERSON_MAX = 16
export const ASSERTION_LENGTH_MAX = 16_384

/** Streams of events: how many, how many of them one person's (a page has two), how often they show that they live, and how far one may be behind. */
export const STREAMS_MAX = 200
export const STREAMS_PER_PERSON_MAX = 24
export const STREAM_PULSE_MS = 15_000
export const STREAM_BEHIND_BYTES_MAX = 4 * 1_024 * 1_024
