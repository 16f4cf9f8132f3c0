// Limits of the search for the process at the other end of a connection, by name and unit.
/** How long it may take to set the mark by which the gate recognises its own processes. */
export const MARK_MS_MAX = 2_000
/**
 * Marks that a data directory keeps to recognise processes that its gates started since the machine
 * booted. Beyond it, they are replaced by one mark above all of them, which may recognise processes
 * of other gates too.
 */
export const PROCESS_MARKS_MAX = 16
/**
 * Processes that are checked per turn of the event loop when the peer of a connection is searched
 * for.
 */
export const PEER_PROCESSES_PER_TURN = 20
/** Ancestors of a pipe's process among which its client is searched for. */
export const PROCESS_ANCESTORS_MAX = 64
/** Processes that were peers before, and are checked first. */
export const PEER_PIDS_KEPT_MAX = 64
