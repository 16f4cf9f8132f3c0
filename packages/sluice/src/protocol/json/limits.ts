// Limits of the wire readers, by name and unit. The error for exceeding one states the limit.

export interface JsonLimits {
  /** The text, in UTF-16 code units. */
  readonly lengthMax: number
  /** Nesting of arrays and objects; `[]` is 1. Never more than JSON_DEPTH_CEILING. */
  readonly depthMax: number
  /**
   * Values and keys that become JavaScript values (`params`, `error`, documents of commands): what
   * is decided on, counted, shown and rewritten.
   */
  readonly tokensMax: number
  /** Values and keys that are only validated and pass as text: the `result` of a response. */
  readonly skippedTokensMax: number
  /** Characters of one number. */
  readonly numberLengthMax: number
  /** Characters of all numbers of more than 15 digits, each of which is compared with its double. */
  readonly longNumbersLengthMax: number
  /** All strings that have an escape, together, in UTF-16 code units. */
  readonly escapedLengthMax: number
  /** Quotes inside strings. */
  readonly escapedQuotesMax: number
}

/** Reading a message at any of these takes less than 50 ms of CPU: docs/decisions has the figures. */
export const JSON_LIMITS: JsonLimits = {
  lengthMax: 16 * 1_048_576,
  depthMax: 64,
  tokensMax: 50_000,
  skippedTokensMax: 200_000,
  numberLengthMax: 1_000,
  longNumbersLengthMax: 524_288,
  escapedLengthMax: 6 * 1_048_576,
  escapedQuotesMax: 1_000_000,
}

/**
 * Commas and colons of a result up to which it is parsed if a policy or a list needs its values:
 * this many values cost about 25 ms.
 */
export const PARSED_MARKS_MAX = 50_000

/**
 * The reader recurses: a larger `depthMax` is reduced to this, which uses 350 of 984 KiB of stack.
 */
export const JSON_DEPTH_CEILING = 1_000

/** Characters of a key or number that a message repeats. */
export const SHOWN_LENGTH_MAX = 64

/** A request's `id` that is a string, in UTF-16 code units. */
export const ID_LENGTH_MAX = 256
export const METHOD_LENGTH_MAX = 256
/** The name of a tool or prompt, and the URI of a resource, in UTF-16 code units. */
export const NAME_LENGTH_MAX = 1_024
export const URI_LENGTH_MAX = 16_384
/**
 * A refused text is parsed for its id up to this length, in UTF-16 code units; of a longer one only
 * the two ends are read.
 */
export const FIND_ID_PARSED_LENGTH_MAX = 65_536
/** Messages of one batch. */
export const BATCH_MESSAGES_MAX = 100

/** A line of a line-framed peer, without its line break. */
export const LINE_BYTES_MAX = 16 * 1_048_576
/** Buffer that a splitter reuses for the next line; a larger one is released with its line. */
export const LINE_KEPT_BYTES_MAX = 65_536

/** The data of one event of a stream, in UTF-16 code units. */
export const EVENT_LENGTH_MAX = 16 * 1_048_576
/** Lines of data of one event: each costs memory, however short. */
export const EVENT_LINES_MAX = 262_144
/**
 * Lines of a stream without an event (blank lines, comments, other fields): beyond that the stream
 * is closed.
 */
export const EVENT_IDLE_LINES_MAX = 100_000
/** An event's name or id. */
export const EVENT_FIELD_LENGTH_MAX = 1_024
/** Maximum reconnection delay that a server may request. */
export const EVENT_RETRY_MS_MAX = 3_600_000

/** Arguments of one tool that are repeated in headers, and how deep among the arguments they may be. */
export const PARAM_HEADERS_MAX = 64
export const SCHEMA_PATH_DEPTH_MAX = 16

/** A tool's name as shown to clients: the limit of the model providers. */
export const JOINED_NAME_LENGTH_MAX = 64
/** Characters of the hash that a shortened name ends in. */
export const NAME_HASH_LENGTH = 8

/**
 * A resource template, and a URI matched with one, in UTF-16 code units; its texts and expressions.
 */
export const TEMPLATE_LENGTH_MAX = 4_096
export const TEMPLATE_URI_LENGTH_MAX = 2_048
export const TEMPLATE_PARTS_MAX = 50

/**
 * A non-ASCII key, in UTF-16 code units, and its consecutive combining marks: longer ones are
 * refused, since comparing them case-insensitively takes more than linear time.
 */
export const FOLDED_KEY_LENGTH_MAX = 1_024
export const COMBINING_MARKS_MAX = 30
/**
 * Cost of comparing the distinct non-ASCII keys of one text: each is charged a base amount, its
 * length, and its length in NFKC.
 */
export const FOLD_UNITS_MAX = 32_768
export const FOLD_UNITS_PER_KEY = 16
/** Folded keys that are cached, and the maximum length of each in UTF-16 code units. */
export const FOLD_MEMO_KEYS_MAX = 2_048
export const FOLD_MEMO_LENGTH_MAX = 64
