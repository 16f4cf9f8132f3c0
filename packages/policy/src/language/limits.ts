// Limits of the policy engine, by name and unit. The error for exceeding one states the limit and
// the actual value.

/**
 * Steps of the comparison that decides whether one glob is narrower than another. Beyond it neither
 * counts as narrower: both apply, and the stricter action wins.
 */
export const GLOB_STATES_MAX = 2_000
/** Length of the `reason` of a rule. A longer one is refused. */
export const REASON_LENGTH_MAX = 500
/** Guardrails of one policy document. A document with more is refused. */
export const GUARDRAILS_MAX = 300
/**
 * Entries of one list under a rule, such as its `rate_limit`s, its `spend_limit`s, or the parts of
 * `per`. A rule with more is refused.
 */
export const LIMITS_PER_RULE_MAX = 16

/** Largest `max` of a `rate_limit`. */
export const RATE_MAX = 1_000_000
/** Longest `window` of a `rate_limit` or `spend_limit`: 366 days. */
export const WINDOW_SECONDS_MAX = 366 * 86_400

/** Longest `timeout` of an approval, after which the request is denied: 7 days. */
export const APPROVAL_TIMEOUT_SECONDS_MAX = 7 * 86_400
/**
 * Longest `wait` of an approval, after which the agent is told to retry. Most clients give up after
 * 60 seconds.
 */
export const APPROVAL_WAIT_SECONDS_MAX = 50
/** Largest `quorum`: how many people must approve one call. */
export const QUORUM_MAX = 20

/** Length of a `when` expression. A longer one is refused. */
export const EXPRESSION_LENGTH_MAX = 4_096
/**
 * Nodes of the syntax tree of an expression. An expression with more is refused: split it over
 * several guardrails.
 */
export const EXPRESSION_NODES_MAX = 400
/** Nesting of an expression. A deeper one is refused: split it over several guardrails. */
export const EXPRESSION_DEPTH_MAX = 24
/** Length of a regular expression for `matches`. A longer one is refused. */
export const PATTERN_LENGTH_MAX = 500
/**
 * Steps of a regular expression with its repetitions written out, which is what a match costs for
 * each character. A pattern with more is refused.
 */
export const PATTERN_STEPS_MAX = 1_000
/**
 * Steps of all regular expressions of a document together, because compiling 1,000 steps takes
 * milliseconds. A document with more is refused.
 */
export const DOCUMENT_PATTERN_STEPS_MAX = 100_000

/**
 * List entries and object members that one expression may visit in one call. Beyond it the
 * condition is undecidable.
 */
export const WALK_ENTRIES_MAX = 1_000
/**
 * Characters that one expression may read in one call, each times the weight of the function that
 * reads it. Beyond it the condition is undecidable.
 */
export const WALK_LENGTH_MAX = 65_536
/** Weight of a character that `matches` reads, counted towards `WALK_LENGTH_MAX`. */
export const MATCH_WEIGHT = 8
/**
 * Wide character classes of a pattern up to which `MATCH_WEIGHT` applies, because RE2 still caches
 * its state table.
 */
export const MATCH_WIDE_MAX = 10
/**
 * Weight of a character for each step of the pattern, if the pattern has more than `MATCH_WIDE_MAX`
 * wide character classes.
 */
export const MATCH_STEP_WEIGHT = 8
/**
 * Weight of a character that this function reads, counted towards `WALK_LENGTH_MAX`. Functions
 * without an entry count 1.
 */
export const FUNCTION_WEIGHTS: Readonly<Record<string, number>> = {
  path: 64,
  url: 4,
  sql: 20,
  shell: 4,
  lowerAscii: 2,
  upperAscii: 2,
  within: 0,
  isPrivate: 0,
  reads: 0,
  isSecretFile: 16,
}
/**
 * Nodes that the macros of an expression (`all`, `exists`, …) may evaluate in one call: entries
 * times nodes of the body. Beyond it the condition is undecidable.
 */
export const MACRO_PARTS_MAX = 5_000
/**
 * Nodes that a call of this function counts as, towards `MACRO_PARTS_MAX`. Functions without an
 * entry count 1.
 */
export const FUNCTION_PARTS: Readonly<Record<string, number>> = {
  path: 32,
  url: 48,
  email: 16,
  sql: 16,
  shell: 8,
  timestamp: 8,
  duration: 16,
  matches: 8,
  isSecretFile: 8,
}
/**
 * Length of an argument that is part of a counter's key (`per: args.x`). A call with a longer one
 * is denied.
 */
export const KEY_PART_LENGTH_MAX = 256
/** Counter keys that one limit caches; the cache is cleared when it is full. */
export const REMEMBERED_KEYS_MAX = 4_096
/**
 * Arguments of one call, and fields of earlier answers beside them, whose values are recorded for
 * `replay`. The values of further ones are unknown to it.
 */
export const JUDGED_PATHS_MAX = 200
/**
 * Token claims of one call whose values are recorded for `replay`. The values of further ones are
 * unknown to it.
 */
export const JUDGED_CLAIMS_MAX = 40
/** Length of a value that is recorded for `replay`. A longer one is recorded as withheld. */
export const JUDGED_TEXT_LENGTH_MAX = 1_024
/**
 * Conditions of a call that the ledger does not decide and for which `replay` tries every outcome.
 * A call with more is reported as unknown.
 */
export const REPLAY_UNKNOWNS_MAX = 5
/** Nesting of a tool's input schema that is followed. Arguments below it may have any type. */
export const SCHEMA_DEPTH_MAX = 16

/**
 * Hosts that the arguments of one call may name, if `egress` has a list for its tool. A call with
 * more is denied.
 */
export const EGRESS_HOSTS_MAX = 1_000
/** Addresses in the arguments of one call that are compared with the lists under `egress`, at about 1.5 µs each. A
 * call with more is denied. */
export const EGRESS_ADDRESSES_MAX = 10_000
/** Hosts in one list under `egress`. A longer list is refused. */
export const HOSTS_MAX = 1_000
/** Canaries of one document. A document with more is refused: each is looked for in every call. */
export const CANARIES_MAX = 100
/** Length of a canary. A longer one is refused. */
export const CANARY_LENGTH_MAX = 200
/** Largest `max_bytes` of the answers of a tool. */
export const ANSWER_BYTES_MAX = 16 * 1_048_576
/** Largest `max_tokens` of the answers of a tool. */
export const ANSWER_TOKENS_MAX = 8 * 1_048_576

/**
 * Combinations of conditions that `prove` enumerates for one tool. Beyond it the claim is reported
 * as not proved.
 */
export const PROVE_BRANCHES_MAX = 4_096
/** Calls that `prove` tries for one tool when it looks for a counterexample. */
export const PROVE_TRIES_MAX = 20_000
/**
 * Sets of session labels that `prove` follows for a claim with `after`. Beyond it the claim is
 * reported as not proved.
 */
export const PROVE_LABEL_SETS_MAX = 4_096
/** Calls that `prove` tries for one claim with `after`, for all sequences together. */
export const PROVE_SEQUENCE_TRIES_MAX = 200_000
/** Callers that the rules tell apart and for which `prove` looks for a sequence of calls. */
export const PROVE_CALLERS_MAX = 100

/**
 * Length of a resource URI that is normalised before it is compared with rules. A longer one is
 * denied.
 */
export const URI_LENGTH_MAX = 8_192
