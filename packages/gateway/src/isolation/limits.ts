// Limits of the isolation of servers, by name and unit.

/** How long the trial of bubblewrap at a start may take. Then it counts as failed. */
export const PROBE_MS_MAX = 10_000
/** Names that one process of a locked server may look up, of those that its profile allows. */
export const LOCKED_NAMES_MAX = 4_096
/** Connections of one process of a locked server at once. A further one is closed. */
export const LOCKED_CONNECTIONS_MAX = 256
/** Refused hosts of one server that are kept for people and recorded. Further ones are only refused. */
export const REFUSED_HOSTS_MAX = 64
/** How long a host that was refused is not recorded again for the same server. */
export const REFUSED_AGAIN_MS = 3_600_000
