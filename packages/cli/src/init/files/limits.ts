// Bounds of what is read from and written to other programs' files, by name and unit: how much, how
// often it is tried again, and how long another program is waited for.

/**
 * Size of a client's configuration file. Claude Code keeps its whole state in one, which grows to
 * megabytes. A larger one is refused.
 */
export const CLIENT_FILE_BYTES_MAX = 64 * 1_048_576
/** Attempts to change a file that another program writes at the same time. */
export const WRITE_TRIES_MAX = 160
/** Pause between two attempts to change a file. */
export const WRITE_PAUSE_MS = 25
/** Age from which on a lock that was not touched belongs to a program that has ended. */
export const LOCK_STALE_MS = 10_000
/** Projects of Claude Code whose folders are searched for servers. */
export const PROJECTS_MAX = 2_000
/** Unchanged lines that are shown around a change. */
export const CONTEXT_LINES = 3
/** How long after a write the file is checked for another program's overwrite. */
export const SETTLE_MS = 60
/** Times that a change is made again after it was overwritten. */
export const SETTLE_ROUNDS_MAX = 20
