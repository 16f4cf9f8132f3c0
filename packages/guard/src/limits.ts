// Bounds of the guard, by name and unit: how much of a definition or text it looks at. What is beyond
// a bound was not looked at, and is said to be so.

/**
 * Strings and keys of one definition or answer that are inspected. One with more counts as a
 * finding.
 */
export const STRINGS_MAX = 5_000
/** Characters of one string that is inspected. A longer one counts as a finding. */
export const TEXT_CHARS_MAX = 262_144
/**
 * Characters of all strings and keys of one definition. A definition with more counts as a finding.
 */
export const DEFINITION_CHARS_MAX = 131_072
/**
 * Cost of inspecting one answer or definition, in characters that one pattern searches: about 10 ns
 * each, 80 ms in all. Text that is decoded, folded or matched counts more than once. One that costs
 * more counts as a finding.
 */
export const SCANNED_CHARS_MAX = 8_000_000
/**
 * Cost of inspecting a message that cannot be inspected in slices (a notification, or a request of
 * the server), in characters that one pattern searches. One that costs more counts as a finding.
 */
export const SCANNED_AT_ONCE_CHARS_MAX = 1_500_000
/** Cost of searching a text for secrets only, in characters of its decoded forms. */
export const DECODED_CHARS_MAX = 2 * 1_048_576
/**
 * Nesting of definitions, answers and arguments that is inspected. A deeper definition or answer
 * counts as a finding.
 */
export const DEPTH_MAX = 64
/** Findings that are reported for one text. */
export const FINDINGS_MAX = 50
/**
 * Characters of all texts of one answer that are inspected, if a policy asks for it. An answer with
 * more counts as a finding.
 */
export const ANSWER_CHARS_MAX = 262_144
/** Length of a message that is parsed for inspection. A longer one counts as a finding. */
export const MESSAGE_CHARS_MAX = 4 * 1_048_576
/**
 * Characters of all base64 strings of one answer, such as images, that are inspected. An answer
 * with more counts as a finding.
 */
export const BINARY_CHARS_MAX = 2 * 1_048_576
/** Characters from which on a string that is entirely base64 is inspected as binary data. */
export const BINARY_CHARS_MIN = 4_096
/** Arguments of one call that are joined to find a value that was split over several of them. */
export const SPLIT_LEAVES_MAX = 200
/** Consecutive arguments that are joined to find a value that was split over them. */
export const SPLIT_PARTS_MAX = 4
/**
 * Length of a call's arguments up to which they are searched at once for secrets, card and account
 * numbers, and canaries. Longer ones are searched in slices before the call is decided.
 */
export const ARGUMENTS_AT_ONCE_LENGTH_MAX = 16_384
