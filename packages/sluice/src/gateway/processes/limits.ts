// Limits of the search for the process at the other end of a connection, by name and unit.
/** How long the gate's mark on its own processes may take to be set. */
export const MARK_MS_MAX = 2_000
/** Marks that a data directory keeps, to recognise what its gates have started since the machine booted. Of more, one
 * that is above all of them is kept, which may recognise processes of other gates too. */
export const PROCESS_MARKS_MAX = 16
/** Processes looked at in one turn when the peer of a connection is searched for. */
export const PEER_PROCESSES_PER_TURN = 20
/** Ancestors of a pipe among which its client is looked for. */
export const PROCESS_ANCESTORS_MAX = 64
/** Peers that are looked at first, since they came before. */
export const PEER_PIDS_KEPT_MAX = 64
