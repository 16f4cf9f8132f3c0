// Bounds of the guard, by name and unit: how much of a definition or text it looks at. What is beyond
// a bound was not looked at, and is said to be so.

/** Strings of one definition, keys counted. */
export const STRINGS_MAX = 5_000
/** Of one string: as much as of a whole answer. */
export const TEXT_CHARS_MAX = 262_144
/** All texts of one definition, names of members counted. */
export const DEFINITION_CHARS_MAX = 131_072
/** What one answer or definition may cost, in characters that one expression searches: some 10 ns each,
 * 80 ms in all. What is decoded, folded or found counts more than once. Ordinary documents, programs and
 * JSON of ANSWER_CHARS_MAX fit; what needs more was made to. */
export const SCANNED_CHARS_MAX = 8_000_000
/** The same for a message that has to be looked through in one piece: a notification, a question. */
export const SCANNED_AT_ONCE_CHARS_MAX = 1_500_000
/** The same for a text that is searched for secrets alone. */
export const DECODED_CHARS_MAX = 2 * 1_048_576
export const DEPTH_MAX = 64
/** Findings told of one text. */
export const FINDINGS_MAX = 50
/** All texts of one answer: looked through only where a policy asks. */
export const ANSWER_CHARS_MAX = 262_144
/** A message with all of that, written as JSON: a longer one is not parsed to be looked through. */
export const MESSAGE_CHARS_MAX = 4 * 1_048_576
/** Strings that are base64 as a whole, such as pictures, of one answer; and from what length on. */
export const BINARY_CHARS_MAX = 2 * 1_048_576
export const BINARY_CHARS_MIN = 4_096
/** Texts of one call that are joined to find a value that was split over them, and how many at once. */
export const SPLIT_LEAVES_MAX = 200
export const SPLIT_PARTS_MAX = 4
/** Arguments beyond this length, in UTF-16 code units, are looked through for secrets, numbers of cards and
 * accounts and planted values in slices, before the call is decided. */
export const ARGUMENTS_AT_ONCE_LENGTH_MAX = 16_384
