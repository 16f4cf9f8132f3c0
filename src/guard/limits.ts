// Bounds of the guard, by name and unit: how much of a definition or text it looks at. What is beyond
// a bound was not looked at, and is said to be so.

/** Strings of one definition, keys counted. */
export const STRINGS_MAX = 5_000
/** Of one string. */
export const TEXT_CHARS_MAX = 65_536
export const DEPTH_MAX = 64
/** Findings told of one text. */
export const FINDINGS_MAX = 50
/** Runs of base64 or hex that are looked into, of one text. */
export const ENCODED_RUNS_MAX = 64
/** All texts of one answer: at 5 MB/s some 50 ms at worst, and only where a policy asks. */
export const ANSWER_CHARS_MAX = 262_144
