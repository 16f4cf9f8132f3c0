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
/** Records waiting for one commit; the next intent is refused. */
export const PENDING_RECORDS_MAX = 65_536
/** Outcomes kept in memory while writing fails; the rest is marked unknown at the next start. */
export const KEPT_OUTCOMES_MAX = 10_000
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
/** Texts the index remembers the numbers of. */
export const REMEMBERED_WORDS_MAX = 50_000
