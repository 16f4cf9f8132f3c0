// Limits of `sluice threats`.

/** Sequences of calls that one search plays. Beyond it, what was found is reported, and nothing counts as closed. */
export const THREAT_PLAYS_MAX = 50_000
/** Time of one search. Beyond it, the same. */
export const THREAT_SEARCH_MS_MAX = 30_000
/** Time to find what closes one harm. Changes that are left then are not tried. */
export const THREAT_CLOSING_MS_MAX = 60_000
/** Boundary values of a Financial tool's rules that are tried. */
export const THREAT_AMOUNTS_MAX = 60
/** Levels of an argument's schema that are filled in. */
export const THREAT_SCHEMA_LEVELS_MAX = 3
