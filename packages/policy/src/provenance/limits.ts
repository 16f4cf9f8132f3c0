// Limits of provenance: what a session remembers of answers and prompts. What does not fit is
// forgotten, and what is forgotten counts as a stranger's text, so a limit only tightens.

/**
 * Hashes of answers that a session remembers, 12 bytes each. If it is full, the oldest answers are
 * forgotten.
 */
export const PROVENANCE_ENTRIES_MAX = 64_000
/**
 * Hashes that are freed at once when a session's memory is full: the oldest answers, each
 * completely.
 */
export const PROVENANCE_FREED_MIN = 8_000
/** Characters of one answer that a session remembers. The rest counts as forgotten. */
export const ANSWER_REMEMBERED_CHARS_MAX = 196_608
/** Nesting of an answer that is read as fields. Deeper parts count as prose. */
export const ANSWER_DEPTH_MAX = 32
/**
 * Argument values of one call whose origin is checked. A call that sends or changes data and has
 * more is held for approval.
 */
export const CHECKED_VALUES_MAX = 4_096
/**
 * Characters of one call's arguments whose origin is checked. A call that sends or changes data and
 * has more is held for approval.
 */
export const CHECKED_CHARS_MAX = 131_072
/**
 * Nesting of one call's arguments whose origin is checked. A call that sends or changes data and
 * nests deeper is held for approval.
 */
export const CHECKED_DEPTH_MAX = 32
/**
 * Characters of a prompt whose values count as named by the user. The rest of the prompt is
 * ignored.
 */
export const PROMPT_CHARS_MAX = 2_000
/** Characters of a field of an answer. A longer one counts as prose, whatever its key. */
export const FIELD_CHARS_MAX = 100
/** Words of a field of an answer. A field with more counts as prose, whatever its key. */
export const FIELD_WORDS_MAX = 8
/**
 * Words of prose in an answer from which on a third party counts as the author of its fields, too.
 */
export const RECORD_PROSE_WORDS = 12
/** Characters without a blank that count as one word, as in base64. */
export const WORD_CHARS = 16
/** At least this many answers of a session have their tool named when a call is held because of what they said. */
export const ANSWER_SOURCES_MAX = 64
/** Parent directories of a path that are compared with known paths. */
export const PATH_PARTS_MAX = 16
/**
 * Answers of which a session remembers the fields that `last(...)` names. The oldest is forgotten, and a
 * condition that reads it is undecidable.
 */
export const ANSWERS_REMEMBERED_MAX = 256
/** Length of a text that `last(...)` can read of an answer, or find it by. A longer one is unknown. */
export const ANSWER_VALUE_LENGTH_MAX = 256
/** How long `last(...)` knows an answer: one hour. Then the call has to be made again. */
export const ANSWER_AGE_MS_MAX = 3_600_000
