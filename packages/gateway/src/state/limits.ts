// Limits of the freezes and of reading and reloading policies, by name and unit.

/** Servers, principals and agents that are frozen one by one. A further one is refused. */
export const FREEZES_MAX = 1_000
/** Size of a policy file; the limit of a document is lower. A larger one is refused. */
export const POLICY_FILE_BYTES_MAX = 8 * 1_048_576
/**
 * Length of all policy documents up to which a change is compiled at once. Longer ones are parsed
 * in another thread and compiled in slices.
 */
export const RELOADED_AT_ONCE_LENGTH_MAX = 8_192
/** Entries of a policy document that are taken over from that thread per turn of the event loop. */
export const TREE_ENTRIES_PER_TURN = 200
/** How long that thread may take. Then the policy in force stays. */
export const READ_TREES_MS_MAX = 60_000
