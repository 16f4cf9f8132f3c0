// Every bound of the ledger, by name and unit. What meets one is refused, cut with a digest of the
// whole, or kept for later; it is never left out silently.

/** A text in a record (name, reason, rule); a longer one is kept as its beginning and a digest. */
export const TEXT_LENGTH_MAX = 4_096
export const TEXT_KEPT_LENGTH = 1_024
/** Values that expressions read, in one record. */
export const JUDGED_ENTRIES_MAX = 256
export const RECORD_BYTES_MAX = 262_144
/** Records of one turn beyond this many bytes go into a second row of the same transaction. */
export const BLOCK_BYTES_MAX = 1_048_576
/** Blocks that a walk over the chain reads together. */
export const BLOCKS_READ_AT_ONCE = 64
/** Records waiting for one commit; the next intent is refused. */
export const PENDING_RECORDS_MAX = 65_536
/** Outcomes kept in memory while writing fails; the rest is marked unknown at the next start. */
export const KEPT_OUTCOMES_MAX = 10_000
/** Sessions of whose calls the text is remembered that they have alike. */
export const REMEMBERED_SESSIONS_MAX = 1_000
/** An outcome waits this long for a commit to ride in before it gets one of its own. */
export const OUTCOME_DELAY_MS_MAX = 10
/** Pauses between attempts while writing fails: from the first, doubling, to the second. */
export const RETRY_MS_MIN = 50
export const RETRY_MS_MAX = 5_000
/** How often the head of the chain is noted beside it, so that a missing end is seen. */
export const ANCHOR_EVERY_MS = 1_000
/** Space that is set free when the disk is full, for denials, events and outcomes. */
export const RESERVE_BYTES = 4 * 1_048_576
/** Records at the end of the chain that are verified at every start. */
export const TAIL_RECORDS_VERIFIED = 2_000
/** Problems one verification lists. */
export const PROBLEMS_MAX = 100
/** Records one query answers with. */
export const QUERY_RECORDS_MAX = 1_000
/** Records that are put into the index of queries in one transaction. */
export const INDEXED_AT_ONCE_MAX = 20_000
/** Records of the index that are compared with the chain before queries, half of them the newest, the
 * rest in random segments: a fraction of a second. And how often that is done while it stays open. */
export const INDEX_COMPARED_RECORDS = 32_768
export const INDEX_SEGMENT_RECORDS = 1_024
export const INDEX_CHECK_EVERY_MS = 60_000
/** Texts the index remembers the numbers of. */
export const REMEMBERED_WORDS_MAX = 50_000
/** One checkpoint as text: 52 peaks at most, and the rest. */
export const CHECKPOINT_TEXT_LENGTH_MAX = 8_192
/** A file of checkpoints that is read as a whole: years of them. */
export const CHECKPOINT_FILE_BYTES_MAX = 256 * 1_048_576
/** Beyond this it is thinned when a gate starts. */
export const CHECKPOINT_FILE_THIN_BYTES = 64 * 1_048_576
/** What of its end is read for the last one. */
export const CHECKPOINT_FILE_END_BYTES = 65_536
/** Records between two checkpoints, unless said; and how long the last may be without one. */
export const CHECKPOINT_EVERY_RECORDS = 1_000
export const CHECKPOINT_EVERY_MS = 60_000
/** Records that are put into the tree in one turn: a fraction of a millisecond. */
export const TREE_RECORDS_PER_TURN = 256
/** Hashes that wait in memory for the tree; beyond it they are read from the disk. */
export const TREE_HASHES_HELD_MAX = 10_000
/** Blocks that are dropped in one turn: a few milliseconds at most. */
export const DROPPED_BLOCKS_PER_TURN = 200
/** Leaves under one node that is kept for proofs. */
export const SUBTREE_LEAVES = 1_024
/** A proof as text: a record and its way to the root. */
export const PROOF_TEXT_LENGTH_MAX = 2 * RECORD_BYTES_MAX

// SQL on the index.

export const SQL_LENGTH_MAX = 20_000
/** How long a query may take, unless said, and at most. */
export const SQL_MS_MAX = 10_000
export const SQL_MS_ALLOWED_MAX = 600_000
export const SQL_ROWS_MAX = 1_000
export const SQL_ROWS_ALLOWED_MAX = 100_000
export const SQL_ANSWER_BYTES_MAX = 32 * 1_048_576
/** A text or blob that a query makes. */
export const SQL_VALUE_BYTES_MAX = 4 * 1_048_576
/** Memory of the process that runs it. */
export const SQL_HEAP_BYTES_MAX = 512 * 1_048_576

// Elsewhere: second places of checkpoints, and webhooks.

export const POST_BODY_BYTES_MAX = 262_144
/** What is read of an answer. */
export const POST_ANSWER_BYTES_MAX = 16_384
export const POST_MS_MAX = 10_000
/** Tries of one message; pauses double from the first to the last. */
export const POST_TRIES_MAX = 5
export const POST_FIRST_PAUSE_MS = 1_000
export const POST_PAUSE_MS_MAX = 60_000
/** A second place that cannot be reached is tried again after this long, doubling to the second. */
export const PLACE_RETRY_MS_MIN = 5_000
export const PLACE_RETRY_MS_MAX = 300_000
/** How long the last checkpoint may take to reach it when the gate ends. */
export const PLACE_END_MS_MAX = 5_000

/** Rows of each part of a report. */
export const REPORT_ROWS_MAX = 50

/** An export with a filter: records that are looked at in one go, and calls whose outcome it waits for. */
export const EXPORT_STRETCH_RECORDS = 5_000
export const EXPORT_OPEN_MAX = 10_000
