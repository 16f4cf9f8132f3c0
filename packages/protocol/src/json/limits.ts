// Limits of the wire readers, by name and unit. The error for exceeding one states the limit.

export interface JsonLimits {
  /** Length of the text. */
  readonly lengthMax: number
  /** Nesting of arrays and objects; `[]` is 1. At most `JSON_DEPTH_CEILING`. */
  readonly depthMax: number
  /**
   * Values and keys that become JavaScript values, because they are decided on, counted, shown or
   * rewritten: `params`, `error`, documents of commands.
   */
  readonly tokensMax: number
  /** Values and keys that are only validated and pass as text: the `result` of a response. */
  readonly skippedTokensMax: number
  /** Characters of one number. */
  readonly numberLengthMax: number
  /**
   * Characters of all numbers with more than 15 digits, each of which is compared with its double.
   */
  readonly longNumbersLengthMax: number
  /** Characters of all strings that have an escape. */
  readonly escapedLengthMax: number
  /** Escaped quotes inside strings. */
  readonly escapedQuotesMax: number
}

/**
 * Reading a message at any of these takes less than 50 ms of CPU: docs/decisions has the figures.
 */
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
 * Commas and colons of a result up to which it is parsed, if a policy or a list needs its values:
 * as many values cost about 25 ms.
 */
export const PARSED_MARKS_MAX = 50_000

/** Largest `depthMax`: the reader recurses, and this takes 350 of 984 KiB of stack. */
export const JSON_DEPTH_CEILING = 1_000

/** Characters of a key or number that an error message quotes. */
export const SHOWN_LENGTH_MAX = 64

/** Length of a request's `id` that is a string. A longer one is refused with `WIRE_ID`. */
export const ID_LENGTH_MAX = 256
/** Length of a `method`. A longer one is refused with `WIRE_METHOD`. */
export const METHOD_LENGTH_MAX = 256
/**
 * Length of the name of a tool or prompt. A call with a longer one is refused; a tool with a longer
 * one is left out of lists.
 */
export const NAME_LENGTH_MAX = 1_024
/**
 * Length of the URI of a resource. A request with a longer one is refused; a resource with a longer
 * one is left out of lists.
 */
export const URI_LENGTH_MAX = 16_384
/**
 * Length of a refused text that is parsed for its `id`. Of a longer one, only both ends are
 * searched.
 */
export const FIND_ID_PARSED_LENGTH_MAX = 65_536
/** Messages of one batch. A batch with more is refused with `WIRE_BATCH`. */
export const BATCH_MESSAGES_MAX = 100

/** Size of a line from a client behind a pipe or a server process. A longer one is skipped. */
export const LINE_BYTES_MAX = 16 * 1_048_576
/** Buffer that is reused for the next line; a larger one is released with its line. */
export const LINE_KEPT_BYTES_MAX = 65_536

/** Length of the data of one server-sent event. A longer one is refused. */
export const EVENT_LENGTH_MAX = 16 * 1_048_576
/**
 * Lines of data of one server-sent event, each of which takes memory. An event with more is
 * refused.
 */
export const EVENT_LINES_MAX = 262_144
/**
 * Lines of a stream without an event (blank lines, comments, other fields). Beyond it the stream is
 * closed.
 */
export const EVENT_IDLE_LINES_MAX = 100_000
/** Length of the name or id of a server-sent event. A longer one is refused. */
export const EVENT_FIELD_LENGTH_MAX = 1_024
/** Longest reconnection delay that a server may request. */
export const EVENT_RETRY_MS_MAX = 3_600_000

/**
 * Arguments of one tool that are repeated in HTTP headers. A tool with more is left out of lists.
 */
export const PARAM_HEADERS_MAX = 64
/**
 * Nesting of an argument that is repeated in an HTTP header. A tool with a deeper one is left out
 * of lists.
 */
export const SCHEMA_PATH_DEPTH_MAX = 16

/**
 * Length of a tool's name as shown to clients: the limit of model providers. A longer one is
 * shortened.
 */
export const JOINED_NAME_LENGTH_MAX = 64
/** Characters of the hash at the end of a shortened name. */
export const NAME_HASH_LENGTH = 8

/** Length of a resource template. A longer one matches no URI. */
export const TEMPLATE_LENGTH_MAX = 4_096
/** Length of a URI that is matched with resource templates. A longer one matches none. */
export const TEMPLATE_URI_LENGTH_MAX = 2_048
/** Texts and expressions of a resource template. A template with more matches no URI. */
export const TEMPLATE_PARTS_MAX = 50

/**
 * Length of a non-ASCII key, because comparing keys case-insensitively takes more than linear time.
 * A longer one is refused.
 */
export const FOLDED_KEY_LENGTH_MAX = 1_024
/** Consecutive combining marks of a non-ASCII key. A key with more is refused. */
export const COMBINING_MARKS_MAX = 30
/**
 * Cost of comparing the distinct non-ASCII keys of one text: for each, `FOLD_UNITS_PER_KEY`, its
 * length, and its length in NFKC. A text that costs more is refused.
 */
export const FOLD_UNITS_MAX = 32_768
/** Base cost of a non-ASCII key, counted towards `FOLD_UNITS_MAX`. */
export const FOLD_UNITS_PER_KEY = 16
/** Folded keys that are cached; the cache is cleared when it is full. */
export const FOLD_MEMO_KEYS_MAX = 2_048
/** Length of a key up to which its folded form is cached. */
export const FOLD_MEMO_LENGTH_MAX = 64
