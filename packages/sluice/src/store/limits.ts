// Limits of the stores, by name and unit. Reaching one makes the store stricter, never looser.
/**
 * How long a write waits for another process before it is an error. It blocks everything else
 * meanwhile, so it is short; callers that can wait retry later.
 */
export const BUSY_TIMEOUT_MS = 100
/** The same while a file is opened, when no request is pending yet. */
export const OPEN_TIMEOUT_MS = 2_000
/** Pages (of 4 KiB) of the write-ahead log before they are checkpointed into the database. */
export const WAL_PAGES_MAX = 4_000
/** Disk space that the write-ahead log keeps after a checkpoint. */
export const WAL_KEPT_BYTES_MAX = 32 * 1_048_576
/** Memory for pages of one database. */
export const CACHE_KIB_MAX = 4_096

/** Links on the path to a data directory, the same limit as the system's. */
export const FOLDER_LINKS_MAX = 40
/** The mark of a data directory: a MAC in hexadecimal digits and a line break. */
export const MARK_BYTES_MAX = 128
/** Other installations whose agent bundles may restore memory. */
export const TRUSTED_KEYS_MAX = 100
