// Limits of provenance: what a session remembers of answers and prompts. What does not fit is
// forgotten, and what is forgotten counts as a stranger's text, so a limit only tightens.

/** Hashes that a session remembers of answers; 12 bytes each at a load of at most 0.8. */
export const PROVENANCE_ENTRIES_MAX = 64_000
/** Part of the entries that is freed at once when a session is full: the oldest answers, whole. */
export const PROVENANCE_FREED_MIN = 8_000
/** Characters of one answer that are remembered. The rest counts as forgotten. */
export const ANSWER_REMEMBERED_CHARS_MAX = 196_608
/** Nesting of an answer that is read as fields; what is deeper is prose. */
export const ANSWER_DEPTH_MAX = 32
/** Values of the arguments of one call that are checked. A call with more is held. */
export const CHECKED_VALUES_MAX = 4_096
/** Characters of the arguments of one call that are checked. A call with more is held. */
export const CHECKED_CHARS_MAX = 131_072
/** Nesting of arguments that is checked. A call with more is held. */
export const CHECKED_DEPTH_MAX = 32
/** Characters of a prompt that count as named by the user. */
export const PROMPT_CHARS_MAX = 2_000
/** Different words of all prompts of a session; past it, those of earlier prompts are forgotten. */
export const PROMPT_WORDS_MAX = 4_096
/** A leaf with more characters or words is prose, whatever its key. */
export const FIELD_CHARS_MAX = 100
export const FIELD_WORDS_MAX = 8
/** Words of prose from which on a stranger is taken to have written the fields of the record too. */
export const RECORD_PROSE_WORDS = 12
/** Characters that count as one word of text without blanks, such as base64. */
export const WORD_CHARS = 16
/** Lines of a text that is read as records; a longer one is prose. */
export const RECORD_LINES_MAX = 10_000
/** Directories of a path that are compared with what is known. */
export const PATH_PARTS_MAX = 16
