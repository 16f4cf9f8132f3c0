// Bounds of what is read from and written to other programs' files, by name and unit: how much, how
// often it is tried again, and how long another program is waited for.

/** A client's configuration; Claude Code keeps its whole state in one and it grows to megabytes. */
export const CLIENT_FILE_BYTES_MAX = 64 * 1_048_576
/** How often a change is tried again if another program writes the file meanwhile, and the pause between. */
export const WRITE_TRIES_MAX = 160
export const WRITE_PAUSE_MS = 25
/** A lock that was not touched for so long belongs to a program that has ended. */
export const LOCK_STALE_MS = 10_000
/** Projects of Claude Code whose folders are looked into. */
export const PROJECTS_MAX = 2_000
/** Lines shown around a change. */
export const CONTEXT_LINES = 3
/** How long after a write it is looked whether it still stands, and how often it is made again. */
export const SETTLE_MS = 60
export const SETTLE_ROUNDS_MAX = 20
