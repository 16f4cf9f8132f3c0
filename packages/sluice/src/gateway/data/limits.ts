// Limits of what the gate keeps in its data directory.
// Counted in bytes.

/** Stored memories and sealed values of all sessions. Beyond it, the oldest are removed. */
export const MEMORY_STORED_BYTES_MAX = 256 * 1_048_576
/**
 * Size to which the stored memories of sessions are reduced when they are over
 * `MEMORY_STORED_BYTES_MAX`.
 */
export const MEMORY_STORED_BYTES_KEPT = 240 * 1_048_576
