// Every bound of the stores, by name and unit. Whatever meets one gets tighter by it, never
// looser.
/** How long a write waits for another process before it is an error. It blocks everything else
 * meanwhile, so it is short; whoever can wait tries again later. */
export const BUSY_TIMEOUT_MS = 100
/** The same while a file is opened, when nobody is waiting yet. */
export const OPEN_TIMEOUT_MS = 2_000
/** Pages (of 4 KiB) of the write-ahead log before they are moved into the database. */
export const WAL_PAGES_MAX = 4_000
/** What the write-ahead log keeps of the disk once it has been moved. */
export const WAL_KEPT_BYTES_MAX = 32 * 1_048_576
/** Memory for pages of one database. */
export const CACHE_KIB_MAX = 4_096

/** Links on the way to a data directory, as the system itself bounds them. */
export const FOLDER_LINKS_MAX = 40
/** The mark of a data directory: a MAC in hexadecimal digits and a line break. */
export const MARK_BYTES_MAX = 128
/** Other installations whose agent bundles may restore memory. */
export const TRUSTED_KEYS_MAX = 100
