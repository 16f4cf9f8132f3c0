// Limits of requests between the gates of a cluster, by name and unit.

/** How long a connection to another gate may take, for a request of a session that is there. */
export const PEER_CONNECT_MS = 3_000
/** Silence after which another gate counts as gone and its sessions are taken over. */
export const PEER_SILENT_MS = 4_000
/** How long what is known of another gate is cached. */
export const PEER_FRESH_MS = 500
/** How often another gate is checked while a request waits for it. */
export const PEER_LOOK_MS = 500
/** Other gates that are cached, with their connections; the least recently used is dropped. */
export const PEERS_KNOWN_MAX = 256
/** Size of a request of another gate about an agent, and of a response that is not a stream. A larger one fails. */
export const PEER_MESSAGE_BYTES_MAX = 128 * 1_048_576
