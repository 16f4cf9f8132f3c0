// Limits of the metrics, the watch for stalls and the telemetry, by name and unit.

/** How often the event loop is checked for stalls. */
export const STALL_LOOK_EVERY_MS = 20
/** How late such a check must be to count as a stall. */
export const STALL_MS_MIN = 100
/** Stalls that are logged, per second; all are counted. */
export const STALLS_LOGGED_PER_SECOND = 2
/** How often a stall is logged in which the gate itself did not work. All are counted in the metrics. */
export const MACHINE_STALL_LOGGED_EVERY_MS = 600_000
/** Time series of decisions (server, tool, action, code). Further tools are counted together. */
export const DECISION_SERIES_MAX = 5_000
/** Sessions whose refused calls are counted for alerts; the one whose last refusal is the oldest is dropped. */
export const REFUSED_SESSIONS_MAX = 1_000
/** Spans that wait for the collector. Further ones are dropped. */
export const TELEMETRY_SPANS_MAX = 4_096
/** How often spans are sent to the collector. */
export const TELEMETRY_EVERY_MS = 1_000
/** How long the last spans may take to be sent when the gate stops. */
export const TELEMETRY_END_MS_MAX = 2_000
