// Limits of the data directory by name and unit: memories of sessions, index, snapshots, retention
// and backups.

/** Stored memories and sealed values of all sessions. Beyond it, the oldest are removed. */
export const MEMORY_STORED_BYTES_MAX = 256 * 1_048_576
/**
 * Size to which the stored memories of sessions are reduced when they are over
 * `MEMORY_STORED_BYTES_MAX`.
 */
export const MEMORY_STORED_BYTES_KEPT = 240 * 1_048_576

/** Files of a data directory that a backup copies. A directory with more is refused. */
export const BACKUP_FILES_MAX = 100_000
/** How often the index of the ledger is updated in the background. */
export const INDEX_EVERY_MS = 1_000
/** Records that are indexed at a time while no calls are made: a few milliseconds. */
export const INDEX_RECORDS_MAX = 500
/** Records that are indexed at a time while calls are made. */
export const INDEX_SLICE_RECORDS = 50
/** Pause between two such steps while calls are made. */
export const INDEX_SLICE_MS = 20
/** New records per `INDEX_EVERY_MS` beyond which indexing is postponed. */
export const INDEX_BUSY_RECORDS = 1_000
/**
 * How long after its start a gate verifies the ledger for alerts, and after a verification that found
 * a fault; less if `alerts.verify` is less.
 */
export const VERIFY_AGAIN_MS = 600_000
/** New records after which a snapshot of counters and sessions is written. */
export const STATE_EVERY_RECORDS = 20_000
/** How often it is checked whether a snapshot is due. */
export const STATE_LOOK_EVERY_MS = 60_000
/** Events of one counter in a snapshot. Beyond it, neighbours are merged into the later one. */
export const STATE_COUNTER_EVENTS_MAX = 10_000
/**
 * Events of all counters in a snapshot. Beyond it no snapshot is written, and the next start reads
 * more of the ledger.
 */
export const STATE_EVENTS_MAX = 500_000
/** Size of a snapshot that is read. A larger one is ignored. */
export const STATE_FILE_BYTES_MAX = 256 * 1_048_576
/** How long after a start retention (`ledger.keep`, `ledger.keep_size`) is first applied. */
export const KEEP_FIRST_LOOK_MS = 30_000
/** How often retention is applied. */
export const KEEP_LOOK_EVERY_MS = 3_600_000
