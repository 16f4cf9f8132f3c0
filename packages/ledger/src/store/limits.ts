// Limits of the stores, by name and unit. Reaching one makes the store stricter, never looser.
/**
 * How long a write waits for another process that locks the database, before it fails. It blocks
 * the event loop, so it is short.
 */
export const BUSY_TIMEOUT_MS = 100
/** How long opening a database waits for another process that locks it. */
export const OPEN_TIMEOUT_MS = 2_000
/** Pages (4 KiB) of the write-ahead log at which it is checkpointed into the database. */
export const WAL_PAGES_MAX = 4_000
/** Disk space that the write-ahead log keeps after a checkpoint. */
export const WAL_KEPT_BYTES_MAX = 32 * 1_048_576
/** Page cache of one database. */
export const CACHE_KIB_MAX = 4_096

/** Symbolic links on the path to a data directory, as on Linux. A path with more is refused. */
export const FOLDER_LINKS_MAX = 40
/** Size of the file that marks a data directory: a MAC in hexadecimal. */
export const MARK_BYTES_MAX = 128
/** Other installations whose agent bundles may restore memory. A further one is refused. */
export const TRUSTED_KEYS_MAX = 100

/** Connections of one gate to the shared store. Further queries wait. */
export const CONNECTIONS_MAX = 4
/** Size of the file that `PGPASSFILE` names. A larger one is refused. */
export const PASSWORD_FILE_BYTES_MAX = 65_536
/** How long a connection to the shared store may take. */
export const CONNECT_TIMEOUT_MS = 2_000
/**
 * How long a statement on the shared store may take. Beyond it, the connection is closed and the
 * effect is unknown.
 */
export const STATEMENT_DEADLINE_MS = 2_000
/**
 * How long a statement that calls wait for, such as their admission, may take on the shared store.
 */
export const ADMIT_DEADLINE_MS = 900
/** How long a migration of the shared store, or the restoration of lost records, may take. */
export const MIGRATE_DEADLINE_MS = 30_000
/** How long a statement of `sluice store move`, which writes megabytes, may take. */
export const MOVE_DEADLINE_MS = 120_000
/** Calls, outcomes and events that are sent to the shared store in one statement. */
export const ADMIT_BATCH_MAX = 256
/** Calls that wait for admission by the shared store. A further one is refused. */
export const ADMIT_WAITING_MAX = 4_096
/** Outcomes, refusals and events that wait for the shared store. A further one is refused. */
export const SHARED_ROWS_WAITING_MAX = 20_000
/**
 * Statements with waiting records that are sent before the charges of a lost response are refunded.
 */
export const UNDO_BATCHES_MAX = 100
/** Size of all records in one statement to the shared store. */
export const ADMIT_BYTES_MAX = 4 * 1_048_576
/** First pause before the shared store is tried again. */
export const SHARED_RETRY_MS_MIN = 100
/** Longest pause before the shared store is tried again. */
export const SHARED_RETRY_MS_MAX = 1_000
/**
 * Length of changed rows that are sent to the shared store in one statement; rows of tool definitions beyond
 * it wait for the next.
 */
export const CHANGED_LENGTH_MAX = 1_048_576
/** How often a gate polls the shared store for changes of other gates. */
export const SHARED_POLL_MS = 500
/** How often a gate sends its heartbeat to the shared store. */
export const GATE_BEAT_MS = 1_000
/** Time without a heartbeat after which a gate counts as gone. */
export const GATE_GONE_MS = 10_000
/** Records of a chain that are read from the shared store at a time. */
export const CHAIN_PAGE_ROWS = 1_000
/** Records of all gates that the console's copy takes from the shared store at a time. */
export const FOLLOWED_ROWS_MAX = 2_000
/** Records of one gate that are taken at a time even if there are very many gates. */
export const FOLLOWED_ROWS_MIN = 20
/** Size of the records of all gates that are taken at a time; the one that exceeds it is the last. */
export const FOLLOWED_BYTES_MAX = 8 * 1_048_576
/** How long a freeze waits for the other gates to confirm it. Those that did not are reported. */
export const CONFIRM_MS_MAX = 2_000
/** How often a freeze checks whether the other gates have confirmed it. */
export const CONFIRM_LOOK_MS = 50
/**
 * Charges that a gate remembers, to repeat them after a failover that lost them; the older half is
 * dropped.
 */
export const RECENT_CHARGES_MAX = 20_000
/**
 * Records that a gate restores to a database that lost them. If more are missing, a person has to
 * decide.
 */
export const LOST_RECORDS_MAX = 20_000
/** Records of a chain that retention deletes in one statement. */
export const DROPPED_RECORDS_MAX = 2_000
/** How often a gate removes expired counters and sessions from the shared store. */
export const SWEEP_EVERY_MS = 60_000
/** Expired counters that are removed from the shared store in one statement. */
export const SWEPT_COUNTERS_MAX = 5_000
/** How long an outcome waits to be written with a call. */
export const SHARED_OUTCOME_DELAY_MS = 50
/** How often a gate reports to the shared store which sessions are in use. */
export const SESSION_TOUCH_MS = 20_000
/** Sessions that a gate restores in one statement to a database that lost them. */
export const SESSIONS_RESTORED_AT_ONCE = 500
/**
 * Expired sessions, and likewise principals, that are removed from the shared store in one
 * statement.
 */
export const SWEPT_SESSIONS_MAX = 1_000
/** How long one batch of statements of the agents' step thread may take. */
export const BLOCKING_DEADLINE_MS = 5_000
/** How much longer than the deadline of a batch the step thread waits for its response. */
export const BLOCKING_GRACE_MS = 500
/**
 * How long the lease of a gate on its agents lasts without renewal. Then another gate takes the
 * agents over.
 */
export const AGENT_LEASE_MS = 10_000
/** How often a gate renews its lease, and looks for agents whose gate is gone. */
export const AGENT_BEAT_MS = 2_000
/** Families of agents that a gate takes over at a time, so that other gates get some too. */
export const AGENT_FAMILIES_TAKEN_MAX = 32
/** How long a transaction of the agents waits for a lock. */
export const AGENT_LOCK_MS_MAX = 2_000
/**
 * How long a transaction of the agents may be idle, such as that of a suspended gate, before
 * PostgreSQL ends it.
 */
export const AGENT_IDLE_MS_MAX = 3_000
/** How long the lease on work lasts that only one gate of a cluster may do at a time. */
export const LEASE_MS = 30_000
/** How long a gate waits for such a lease. Beyond it, the operation fails with `STORE_CONFLICT`. */
export const LEASE_WAIT_MS_MAX = 40_000
/** How often a gate that waits for such a lease tries again. */
export const LEASE_LOOK_MS = 100
/** Clock skew between a gate and the database. Beyond it the gate admits no call. */
export const CLOCK_SKEW_MS_MAX = 30_000
/**
 * How far expiry at a gate follows a clock that is ahead of the database's: less than what is refused, so that the
 * gate is right again as soon as its clock is.
 */
export const CLOCK_FOLLOWED_MS_MAX = 15_000
/** How long after its admission was requested a call may be sent. A later one is not sent. */
export const SENT_WITHIN_MS = 2_000
/** Alerts that a store keeps: so many that are ongoing, and so many others. */
export const ALERTS_KEPT = 50
/** Messages of other gates that a gate takes over at a time. */
export const ALERTS_TAKEN_MAX = 10
/**
 * How long a gate may take to send an alert that it has claimed. Then another gate sends it: the first was
 * killed, or is suspended and may send it too.
 */
export const ALERT_CLAIM_MS = 30_000
/** When a request that an outage of the store stopped may be made again: the store is tried again by then. */
export const UNAVAILABLE_RETRY_MS = 5_000

/** How long the id of a request of the Agent Control Standard is remembered: longer than its timestamp is accepted. */
export const STEP_IDS_KEPT_MS = 3_600_000
/** How long the chain of a session without requests is kept. Its next entry begins a new chain. */
export const STEP_CHAINS_KEPT_MS = 30 * 86_400_000
/** After how many requests old ids and chains are deleted. */
export const STEPS_SWEPT_EVERY = 100
