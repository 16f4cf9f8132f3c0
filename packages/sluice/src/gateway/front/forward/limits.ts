// Limits of requests between the gates of a cluster, by name and unit.

/** A connection to another gate, for a request of a session that is there. */
export const PEER_CONNECT_MS = 3_000
/** A gate that has not said so long that it is there counts as gone: its sessions are taken over. */
export const PEER_SILENT_MS = 4_000
/** How long a gate goes on with what it knows of another one, and how often it looks while it waits for it. */
export const PEER_FRESH_MS = 500
export const PEER_LOOK_MS = 500
/** Other gates that a gate knows at a time. */
export const PEERS_KNOWN_MAX = 256
/** An answer of another gate that is not a stream. */
export const PEER_ANSWER_BYTES_MAX = 64 * 1_048_576
