// Limits of recorded traces.

/** Size at which a recording ends. */
export const TRACE_BYTES_MAX = 16 * 1_048_576
/** Recordings that are kept. A further one is refused. */
export const TRACES_MAX = 16
/** Length of an answer in a recording. A longer one is left out and marked. */
export const TRACE_CALL_LENGTH_MAX = 1_048_576
/** How long a recording lasts, unless `for` says otherwise. */
export const TRACE_RECORD_SECONDS = 3_600
/** Largest `for` of a recording. */
export const TRACE_RECORD_SECONDS_MAX = 7 * 86_400
/** How long a recording is kept after its start, unless `keep` says otherwise. */
export const TRACE_KEEP_SECONDS = 7 * 86_400
/** Largest `keep` of a recording. */
export const TRACE_KEEP_SECONDS_MAX = 30 * 86_400
/** How often expired recordings are deleted. */
export const TRACE_SWEEP_MS = 60_000
