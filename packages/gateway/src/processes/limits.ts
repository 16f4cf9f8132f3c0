// Limits of server processes, of their cleanup, and of the search for the process at the other end of
// a connection, by name and unit.

/**
 * Processes that are checked per turn of the event loop when the peer of a connection is searched
 * for.
 */
export const PEER_PROCESSES_PER_TURN = 20
/** Ancestors of a pipe's process among which its client is searched for. */
export const PROCESS_ANCESTORS_MAX = 64
/** Processes that were peers before, and are checked first. */
export const PEER_PIDS_KEPT_MAX = 64

/** How long a process group may take to exit after SIGTERM. Then it gets SIGKILL. */
export const TERM_GRACE_MS = 2_000
/** How long a process group may take to vanish after SIGKILL, before the gate gives up on it. */
export const KILL_WAIT_MS = 2_000
/** How often the watcher process checks whether the gate is still its parent. */
export const PARENT_LOOK_EVERY_MS = 2_000
/** Process groups that a file of orphaned processes may list. A file with more is ignored. */
export const LEFTOVERS_MAX = 1_000
/** Size of a file of orphaned processes. A larger one is ignored. */
export const LEFTOVERS_FILE_BYTES_MAX = 1_048_576
/**
 * Share of the memory (of the container, if there is one) that server processes may take, from
 * which the default of `processes.max` is derived.
 */
export const PROCESS_MEMORY_SHARE = 0.75
/** Memory of a typical server process, from which the default of `processes.max` is derived. */
export const PROCESS_BYTES_TYPICAL = 96 * 1_048_576
/** Smallest default of `processes.max`. */
export const PROCESSES_MAX_MIN = 4
/** Largest default of `processes.max`. */
export const PROCESSES_MAX_MAX = 256
