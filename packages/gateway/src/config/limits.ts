// Limits of reading the configuration and of servers that change, by name and unit.

/**
 * How long open calls may take to finish when a server is changed or restarted. Then they are
 * ended.
 */
export const SERVER_DRAIN_MS = 30_000
/**
 * How long a server that an edit removed from sluice.yaml may return unchanged without a new
 * approval: some editors write a file in two steps.
 */
export const SERVER_RETURN_MS = 10_000
/** Size of a sluice.yaml that a running gate reloads. A larger one takes a restart. */
export const CONFIG_RELOAD_LENGTH_MAX = 262_144

/** Default of `alerts.denials`. */
export const ALERT_DENIALS_PERCENT = 50
/** Default of `alerts.limit`. */
export const ALERT_LIMIT_PERCENT = 80
/** Largest `alerts.every`. */
export const ALERT_EVERY_SECONDS_MAX = 7 * 86_400
/** Largest `alerts.verify`. */
export const ALERT_VERIFY_SECONDS_MAX = 30 * 86_400

/** Largest `processes.max`: server processes at once, over all sessions. */
export const PROCESSES_SETTING_MAX = 1_000
/** Largest `processes.idle`, and `idle` of a server. */
export const PROCESS_IDLE_SECONDS_MAX = 86_400
/** Largest `processes.wait`. */
export const PROCESS_WAIT_SECONDS_MAX = 600
/** Smallest `ledger.keep`: one day. */
export const KEEP_MS_MIN = 86_400_000
/** Largest `ledger.keep`: ten years. */
export const KEEP_SECONDS_MAX = 3_660 * 86_400
/** Smallest `ledger.keep_size`. */
export const KEEP_SIZE_BYTES_MIN = 10_000_000
/** How long a call of a client with hooks may take until its end is reported. Then its outcome is unknown. */
export const HOOK_CALL_MS_MAX = 900_000
/** Longest time that `stop_within` may give the end of a gate: that of a call without progress. */
export const STOP_SECONDS_MAX = 300
/** Bytes of the key of an agent of the Agent Control Standard. A shorter one is refused. */
export const HMAC_KEY_BYTES_MIN = 32
/** Tools that one view names. */
export const VIEW_TOOLS_MAX = 1_000
