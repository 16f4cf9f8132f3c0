// Limits of what the gate keeps in its data directory.
// Counted in bytes.

/** What is stored of sessions' memories and sealed values; beyond it what was written first is removed. */
export const MEMORY_STORED_BYTES_MAX = 256 * 1_048_576
export const MEMORY_STORED_BYTES_KEPT = 240 * 1_048_576
