// Limits of the ledger, by name and unit. What exceeds one is refused, truncated with a digest of
// the whole, or queued; it is never dropped silently.

/** A text in a record (name, reason, rule); a longer one is stored as its start and a digest. */
export const TEXT_LENGTH_MAX = 4_096
export const TEXT_KEPT_LENGTH = 1_024
/** Values that expressions read, in one record. */
export const JUDGED_ENTRIES_MAX = 256
export const RECORD_BYTES_MAX = 262_144
/** Records of one turn beyond this many bytes go into a second row of the same transaction. */
export const BLOCK_BYTES_MAX = 1_048_576
/** Blocks that a walk over the chain reads together. */
export const BLOCKS_READ_AT_ONCE = 64
/** Records queued for one commit; the next intent is refused. */
export const PENDING_RECORDS_MAX = 65_536
/**
 * Outcomes buffered in memory while writing fails; the rest is marked unknown at the next start.
 */
export const KEPT_OUTCOMES_MAX = 10_000
/** Sessions for which the common part of their calls is cached. */
export const REMEMBERED_SESSIONS_MAX = 1_000
/** An outcome waits this long for a commit before it gets its own. */
export const OUTCOME_DELAY_MS_MAX = 10
/** Delay between attempts while writing fails: from the first, doubling, to the second. */
export const RETRY_MS_MIN = 50
export const RETRY_MS_MAX = 5_000
/** How often the head of the chain is stored next to it, so that a missing end is detected. */
export const ANCHOR_EVERY_MS = 1_000
/** Space that is released when the disk is full, for denials, events and outcomes. */
export const RESERVE_BYTES = 4 * 1_048_576
/** Records at the end of the chain that are verified at every start. */
export const TAIL_RECORDS_VERIFIED = 2_000
/** Problems one verification lists. */
export const PROBLEMS_MAX = 100
/** Records returned by one query. */
export const QUERY_RECORDS_MAX = 1_000
/** Records that are indexed in one transaction. */
export const INDEXED_AT_ONCE_MAX = 20_000
/**
 * Records of the index that are compared with the chain before queries, half of them the newest,
 * the rest in random segments: a fraction of a second. And how often that is done while it stays
 * open.
 */
export const INDEX_COMPARED_RECORDS = 32_768
export const INDEX_SEGMENT_RECORDS = 1_024
export const INDEX_CHECK_EVERY_MS = 60_000
/** A check reads every row: after a slow one, so many times as long passes until the next. */
export const INDEX_CHECK_PAUSE = 100
/** Texts whose numbers the index caches. */
export const REMEMBERED_WORDS_MAX = 50_000
/** One checkpoint as text: 52 peaks at most, and the rest. */
export const CHECKPOINT_TEXT_LENGTH_MAX = 8_192
/** A file of checkpoints that is read as a whole: years of them. */
export const CHECKPOINT_FILE_BYTES_MAX = 256 * 1_048_576
/** Beyond this it is thinned when a gate starts. */
export const CHECKPOINT_FILE_THIN_BYTES = 64 * 1_048_576
/** How much of its end is read for the last one. */
export const CHECKPOINT_FILE_END_BYTES = 65_536
/**
 * Default number of records between two checkpoints; and the longest time the last record may be
 * without one.
 */
export const CHECKPOINT_EVERY_RECORDS = 1_000
export const CHECKPOINT_EVERY_MS = 60_000
/** Records that are added to the tree in one turn: a fraction of a millisecond. */
export const TREE_RECORDS_PER_TURN = 256
/** Hashes buffered in memory for the tree; beyond it they are read from disk. */
export const TREE_HASHES_HELD_MAX = 10_000
/** Blocks that are dropped in one turn: a few milliseconds at most. */
export const DROPPED_BLOCKS_PER_TURN = 200
/** Leaves under one node that is stored for proofs. */
export const SUBTREE_LEAVES = 1_024
/** A proof as text: a record and its path to the root. */
export const PROOF_TEXT_LENGTH_MAX = 2 * RECORD_BYTES_MAX

// SQL on the index.

export const SQL_LENGTH_MAX = 20_000
/** The default timeout of a query, and the maximum. */
export const SQL_MS_MAX = 10_000
export const SQL_MS_ALLOWED_MAX = 600_000
export const SQL_ROWS_MAX = 1_000
export const SQL_ROWS_ALLOWED_MAX = 100_000
export const SQL_ANSWER_BYTES_MAX = 32 * 1_048_576
/** A text or blob that a query creates. */
export const SQL_VALUE_BYTES_MAX = 4 * 1_048_576
/** Memory of the process that runs it. */
export const SQL_HEAP_BYTES_MAX = 512 * 1_048_576

// Remote checkpoint stores and webhooks.

export const POST_BODY_BYTES_MAX = 262_144
/** How much of a response is read. */
export const POST_ANSWER_BYTES_MAX = 16_384
export const POST_MS_MAX = 10_000
/** Attempts for one message; delays double from the first to the last. */
export const POST_TRIES_MAX = 5
export const POST_FIRST_PAUSE_MS = 1_000
export const POST_PAUSE_MS_MAX = 60_000
/** A remote store that cannot be reached is retried after this long, doubling to the second. */
export const PLACE_RETRY_MS_MIN = 5_000
export const PLACE_RETRY_MS_MAX = 300_000
/** How long the last checkpoint may take to reach it when the gate stops. */
export const PLACE_END_MS_MAX = 5_000

/** Rows of each part of a report. */
export const REPORT_ROWS_MAX = 50

/**
 * An export with a filter: records that are read per page, and calls whose outcome it waits for.
 */
export const EXPORT_STRETCH_RECORDS = 5_000
export const EXPORT_OPEN_MAX = 10_000

/** Records that are read for the name of a session where the index does not have it yet. */
export const SESSION_NAMES_READ_MAX = 20_000
/** Names of sessions that are remembered between pages. */
export const SESSION_NAMES_KEPT = 10_000
