// Limits of the policy engine, by name and unit. The error for exceeding one states the limit and
// the actual value.

/** Steps of the comparison of two globs. */
export const GLOB_STATES_MAX = 2_000
export const REASON_LENGTH_MAX = 500
export const GUARDRAILS_MAX = 300
export const LIMITS_PER_RULE_MAX = 16

export const RATE_MAX = 1_000_000
export const WINDOW_SECONDS_MAX = 366 * 86_400

export const APPROVAL_TIMEOUT_SECONDS_MAX = 7 * 86_400
/** Clients give up after 60 seconds. */
export const APPROVAL_WAIT_SECONDS_MAX = 50
export const QUORUM_MAX = 20

export const EXPRESSION_LENGTH_MAX = 4_096
export const EXPRESSION_NODES_MAX = 400
export const EXPRESSION_DEPTH_MAX = 24
export const PATTERN_LENGTH_MAX = 500
/** Steps of a pattern with its repetitions written out: what a match costs for each character. */
export const PATTERN_STEPS_MAX = 1_000
/** The same for all patterns of a document: compiling a thousand steps takes milliseconds. */
export const DOCUMENT_PATTERN_STEPS_MAX = 100_000

/** What one expression may walk in one call, in total. */
export const WALK_ENTRIES_MAX = 1_000
export const WALK_LENGTH_MAX = 65_536
/** `matches` is slower than everything else: a character counts as this many. */
export const MATCH_WEIGHT = 8
/** Wide positions of a pattern up to which RE2 caches its state table. */
export const MATCH_WIDE_MAX = 10
/** Beyond that, a character counts as this many for each step of the pattern. */
export const MATCH_STEP_WEIGHT = 8
/** The same for functions that read their text in several ways; all others count once. */
export const FUNCTION_WEIGHTS: Readonly<Record<string, number>> = {
  path: 64,
  url: 4,
  sql: 20,
  lowerAscii: 2,
  upperAscii: 2,
  within: 0,
  isPrivate: 0,
  reads: 0,
}
/** Parts of an expression that its macros may run in one call, entries times parts of the body. */
export const MACRO_PARTS_MAX = 5_000
/** A function that parses counts as this many parts, for any text. */
export const FUNCTION_PARTS: Readonly<Record<string, number>> = {
  path: 32,
  url: 48,
  email: 16,
  sql: 16,
  timestamp: 8,
  duration: 16,
  matches: 8,
}
/**
 * Characters of one call's texts with percent escapes that are decoded to look for the gate's
 * files, at about 20 ns each. A call with more is denied: it could name them in text that is not
 * checked.
 */
export const DECODED_CHARS_MAX = 1_048_576
/**
 * Characters of one call's texts that are searched for the gate's files, at about 7 ns each; base64
 * is searched beyond that too. A call with more is denied.
 */
export const SEARCHED_CHARS_MAX = 5 * 1_048_576
/**
 * Characters of one call's texts that are read backwards from a name of the gate's files, or
 * resolved as a path, which counts four times; at most 10 ns each. More count as naming them.
 */
export const PATH_STEPS_MAX = 1_048_576
/**
 * Characters of a text with `..` that is searched for climbs, at about 5 ns each, if the server's
 * directory is within the gate's files. A longer text counts as leading to them.
 */
export const CLIMB_CHARS_MAX = 4 * 1_048_576
/** A string or number that is part of a counter's key. */
export const KEY_PART_LENGTH_MAX = 256
/** Counter keys that a limit caches. */
export const REMEMBERED_KEYS_MAX = 4_096
/**
 * Arguments of one call whose values are recorded for `replay`, and the longest text among them.
 */
export const JUDGED_PATHS_MAX = 200
export const JUDGED_CLAIMS_MAX = 50
export const JUDGED_TEXT_LENGTH_MAX = 1_024
/** Conditions not decidable from the ledger for which `replay` still tries every outcome. */
export const REPLAY_UNKNOWNS_MAX = 5
/** Nesting of a declared input schema that is followed. */
export const SCHEMA_DEPTH_MAX = 16

/** Hosts that the arguments of one call may name where `egress` has a list for it. */
export const EGRESS_HOSTS_MAX = 1_000
/** Hosts of one list, planted values of a document, and the length of one. */
export const HOSTS_MAX = 1_000
export const CANARIES_MAX = 100
export const CANARY_LENGTH_MAX = 200
/** What `max_bytes` and `max_tokens` of answers may say. */
export const ANSWER_BYTES_MAX = 16 * 1_048_576
export const ANSWER_TOKENS_MAX = 8 * 1_048_576

/** Combinations of branches that `prove` enumerates for one tool. */
export const PROVE_BRANCHES_MAX = 4_096
/** Calls that `prove` tries to reach one branch. */
export const PROVE_TRIES_MAX = 20_000
/** Sets of labels that `prove` follows for a claim with `after`. */
export const PROVE_LABEL_SETS_MAX = 4_096
/** Calls that `prove` tries for all sequences of one claim. */
export const PROVE_SEQUENCE_TRIES_MAX = 200_000
/** Callers that the rules tell apart for which `prove` looks for a sequence. */
export const PROVE_CALLERS_MAX = 100

/** Relative paths of one call that are resolved; more count as naming the gate's files. */
export const RESOLVED_PATHS_MAX = 5_000
/**
 * Readings of one path (decoded, with backslashes as separators, `..` resolved before or after)
 * that are checked; a path with more counts as naming the gate's files.
 */
export const PATH_READINGS_MAX = 64
/** Times that a text is percent-decoded step by step, before it is decoded fully. */
export const DECODE_ROUNDS_MAX = 3
/**
 * Characters of one call's texts with letters that have several forms (combining accents, full
 * width), which are normalised to look for the gate's files, at up to 200 ns each. A call with more
 * is denied.
 */
export const NORMALIZED_CHARS_MAX = 327_680
/**
 * Consecutive combining marks: sorting a longer run takes quadratic time. A text with more counts
 * as naming the gate's files.
 */
export const COMBINING_RUN_MAX = 16
/** Texts of one call that are cached, so that equal ones are searched once. */
export const SEARCHED_TEXTS_MAX = 10_000
/** Characters of a path without its `.` and `..` segments; as on Linux. */
export const PATH_LENGTH_MAX = 4_096
/** Characters of a resource URI that is compared with rules; a longer one has no normal form. */
export const URI_LENGTH_MAX = 8_192
