// Limits of reading the configuration and of servers that change, and what following links to the gate's
// own files may cost, by name and unit. A call that needs more lookups counts as leading to them.

/** Symbolic links in a row that are followed, as on Linux. A path with more counts as a loop. */
export const LINK_DEPTH_MAX = 40
/**
 * File system lookups of one call to follow links. Beyond it, a path counts as leading to the
 * gate's own files.
 */
export const LINK_LOOKUPS_MAX = 4_000
/** Length of a file name, as on Linux. A longer one is not looked up. */
export const FILE_NAME_LENGTH_MAX = 255
/**
 * The gate's own files that are checked for hard links. Beyond it, any hard link counts as leading
 * to one.
 */
export const OWN_FILES_WALKED_MAX = 20_000
/** How long the result of that check is cached. */
export const OWN_LINKS_FRESH_MS = 1_000

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
