// Limits of recorded traces.

/** A recording that has reached this size ends. */
export const TRACE_BYTES_MAX = 16 * 1_048_576
/** Recordings that are kept at once; and so how much of the disk they take. */
export const TRACES_MAX = 16
/** Arguments and answer of one call; a longer answer is left out and marked. */
export const TRACE_CALL_LENGTH_MAX = 1_048_576
/** How long a recording lasts by default, and at most. */
export const TRACE_RECORD_SECONDS = 3_600
export const TRACE_RECORD_SECONDS_MAX = 7 * 86_400
/** How long it is kept after its start by default, and at most. */
export const TRACE_KEEP_SECONDS = 7 * 86_400
export const TRACE_KEEP_SECONDS_MAX = 30 * 86_400
/** How often expired recordings are deleted. */
export const TRACE_SWEEP_MS = 60_000
