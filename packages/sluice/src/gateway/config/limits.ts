// Limits of reading the configuration and of servers that change, and what following links to the gate's
// own files may cost, by name and unit. A call that needs more lookups counts as leading to them.

/** Links to links that are followed; as on Linux. */
export const LINK_DEPTH_MAX = 40
/** Lookups on the disk of one call to follow links; past that a path counts as leading to the gate. */
export const LINK_LOOKUPS_MAX = 4_000
/** Characters of a name on the disk; as on Linux. A longer one is not looked up. */
export const FILE_NAME_LENGTH_MAX = 255
/** Files of the gate that are looked at for hard links; past that a hard link counts as leading to one. */
export const OWN_FILES_WALKED_MAX = 20_000
/** How long what was found counts. */
export const OWN_LINKS_FRESH_MS = 1_000

/** How long open calls may take to finish when a server is changed or restarted; then they end. */
export const SERVER_DRAIN_MS = 30_000
/** A server that an edit took out of sluice.yaml and that is back as it was: an editor wrote the file in
 * two steps. After that it waits for a person like any other. */
export const SERVER_RETURN_MS = 10_000
/** sluice.yaml as a running gate reads it again; a longer one takes a restart. */
export const CONFIG_RELOAD_LENGTH_MAX = 262_144

/** `alerts.every`, `alerts.denials` and `alerts.limit` if they are not set. */
export const ALERT_EVERY_MS = 900_000
export const ALERT_DENIALS_PERCENT = 50
export const ALERT_LIMIT_PERCENT = 80
export const ALERT_EVERY_SECONDS_MAX = 7 * 86_400
