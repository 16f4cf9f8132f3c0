// Limits of the ledger, by name and unit. What exceeds one is refused, truncated with a digest of
// the whole, or queued; it is never dropped silently.

/**
 * Length of a text in a record, such as a name, reason or rule. A longer one is stored as its
 * beginning and a digest.
 */
export const TEXT_LENGTH_MAX = 4_096
/** Characters of a text over `TEXT_LENGTH_MAX` that are stored. */
export const TEXT_KEPT_LENGTH = 1_024
/** Values read by expressions that one record holds. A record with more is refused. */
export const JUDGED_ENTRIES_MAX = 256
/** Size of one record. A larger one is refused. */
export const RECORD_BYTES_MAX = 262_144
/**
 * Size of the records that are stored in one row; further ones of the same transaction start
 * another row.
 */
export const BLOCK_BYTES_MAX = 1_048_576
/** Rows that a walk over the chain reads at a time. */
export const BLOCKS_READ_AT_ONCE = 64
/** Records that wait for the disk. A further call is refused with `LEDGER_UNAVAILABLE`. */
export const PENDING_RECORDS_MAX = 65_536
/**
 * Outcomes that are kept in memory while writing fails. Further ones are lost, and their calls are
 * marked as unknown at the next start.
 */
export const KEPT_OUTCOMES_MAX = 10_000
/**
 * Sessions for which the common part of their records is cached; the cache is cleared when it is
 * full.
 */
export const REMEMBERED_SESSIONS_MAX = 1_000
/** Names of callers and people whose token is cached; the cache is cleared when it is full. */
export const REMEMBERED_NAMES_MAX = 10_000
/** Counters of limits whose name in records is cached; the cache is cleared when it is full. */
export const REMEMBERED_COUNTERS_MAX = 10_000
/** How long an outcome waits to be committed with a call, before it gets a commit of its own. */
export const OUTCOME_DELAY_MS_MAX = 10
/** First pause before writing is retried; it doubles with each further failure. */
export const RETRY_MS_MIN = 50
/** Longest pause before writing is retried. */
export const RETRY_MS_MAX = 5_000
/** How often the head of the chain is stored beside it, so that a truncated end is detected. */
export const ANCHOR_EVERY_MS = 1_000
/**
 * Reserved disk space that is released when the disk is full, so that denials, events and outcomes
 * can still be written.
 */
export const RESERVE_BYTES = 4 * 1_048_576
/** Newest records of the chain that are verified at every start. */
export const TAIL_RECORDS_VERIFIED = 2_000
/** Problems that one verification lists. */
export const PROBLEMS_MAX = 100
/** Records that one query returns. */
export const QUERY_RECORDS_MAX = 1_000
/** Records that are removed from the index in the time that indexing one takes, as measured. */
export const DROPPED_PER_INDEXED = 8
/** Records that are indexed in one transaction. */
export const INDEXED_AT_ONCE_MAX = 20_000
/** Texts whose numbers the index caches; the cache is cleared when it is full. */
export const REMEMBERED_WORDS_MAX = 50_000
/** Length of a checkpoint as text; it has at most 52 peaks, and the hashes of 63 records. */
export const CHECKPOINT_TEXT_LENGTH_MAX = 16_384
/** Size of a file of checkpoints that is read; it holds years of them. A larger one is refused. */
export const CHECKPOINT_FILE_BYTES_MAX = 256 * 1_048_576
/** Size from which on the file of checkpoints is thinned out when a gate starts. */
export const CHECKPOINT_FILE_THIN_BYTES = 64 * 1_048_576
/** End of the file of checkpoints that is read for the last one. */
export const CHECKPOINT_FILE_END_BYTES = 65_536
/** Default of `ledger.checkpoints.every`: records between two checkpoints. */
export const CHECKPOINT_EVERY_RECORDS = 1_000
/** Longest time that the last record is without a checkpoint. */
export const CHECKPOINT_EVERY_MS = 60_000
/**
 * Records that are added to the Merkle tree per turn of the event loop: a fraction of a
 * millisecond.
 */
export const TREE_RECORDS_PER_TURN = 256
/**
 * Hashes that wait in memory to be added to the Merkle tree. Beyond it, they are read from disk.
 */
export const TREE_HASHES_HELD_MAX = 10_000
/** Rows that retention deletes per turn of the event loop: a few milliseconds at most. */
export const DROPPED_BLOCKS_PER_TURN = 200
/**
 * Length of an inclusion proof as text: a record, the hashes of its leaf and the path to the root. A longer one is refused.
 */
export const PROOF_TEXT_LENGTH_MAX = 2 * RECORD_BYTES_MAX

// SQL on the index.

/** Length of an SQL query over the ledger. A longer one is refused. */
export const SQL_LENGTH_MAX = 20_000
/** How long an SQL query may take, unless `--timeout` says otherwise. */
export const SQL_MS_MAX = 10_000
/** Largest `--timeout` of an SQL query. */
export const SQL_MS_ALLOWED_MAX = 600_000
/** Rows that an SQL query returns, unless `--limit` says otherwise. */
export const SQL_ROWS_MAX = 1_000
/** Largest `--limit` of an SQL query. */
export const SQL_ROWS_ALLOWED_MAX = 100_000
/** Size of the result of an SQL query. Further rows are left out. */
export const SQL_ANSWER_BYTES_MAX = 32 * 1_048_576
/** Size of a text or blob that an SQL query creates. A larger one fails the query. */
export const SQL_VALUE_BYTES_MAX = 4 * 1_048_576
/** Memory of the process that runs an SQL query. Beyond it the query fails. */
export const SQL_HEAP_BYTES_MAX = 512 * 1_048_576

// Remote checkpoint stores and webhooks.

/** Size of a webhook message. A larger one is not sent. */
export const POST_BODY_BYTES_MAX = 262_144
/** Bytes of the response to a webhook that are read. */
export const POST_ANSWER_BYTES_MAX = 16_384
/** How long one attempt to deliver a webhook, or a checkpoint to a remote store, may take. */
export const POST_MS_MAX = 10_000
/** Attempts to deliver a webhook message. */
export const POST_TRIES_MAX = 5
/** Pause after the first failed attempt to deliver a webhook; it doubles with each further one. */
export const POST_FIRST_PAUSE_MS = 1_000
/** Longest pause between two attempts to deliver a webhook. */
export const POST_PAUSE_MS_MAX = 60_000
/**
 * First pause before a remote checkpoint store is tried again; it doubles with each further
 * failure.
 */
export const PLACE_RETRY_MS_MIN = 5_000
/** Longest pause before a remote checkpoint store is tried again. */
export const PLACE_RETRY_MS_MAX = 300_000
/** How long the last checkpoint may take to reach a remote store when the gate stops. */
export const PLACE_END_MS_MAX = 5_000

/** Rows of each part of a report. */
export const REPORT_ROWS_MAX = 50

/** Records that are read for one page of a filtered export. */
export const EXPORT_STRETCH_RECORDS = 5_000
/**
 * Calls of a filtered export whose outcome is still expected on later pages. The outcomes of older
 * ones are left out.
 */
export const EXPORT_OPEN_MAX = 10_000

/** Newest records that are read for the name of a session that is not in the index yet. */
export const SESSION_NAMES_READ_MAX = 20_000
/** Names of sessions that are cached between pages; the cache is cleared when it is full. */
export const SESSION_NAMES_KEPT = 10_000
