// Limits of the stores, by name and unit. Reaching one makes the store stricter, never looser.
/**
 * How long a write waits for another process before it is an error. It blocks everything else
 * meanwhile, so it is short; callers that can wait retry later.
 */
export const BUSY_TIMEOUT_MS = 100
/** The same while a file is opened, when no request is pending yet. */
export const OPEN_TIMEOUT_MS = 2_000
/** Pages (of 4 KiB) of the write-ahead log before they are checkpointed into the database. */
export const WAL_PAGES_MAX = 4_000
/** Disk space that the write-ahead log keeps after a checkpoint. */
export const WAL_KEPT_BYTES_MAX = 32 * 1_048_576
/** Memory for pages of one database. */
export const CACHE_KIB_MAX = 4_096

/** Links on the path to a data directory, the same limit as the system's. */
export const FOLDER_LINKS_MAX = 40
/** The mark of a data directory: a MAC in hexadecimal digits and a line break. */
export const MARK_BYTES_MAX = 128
/** Other installations whose agent bundles may restore memory. */
export const TRUSTED_KEYS_MAX = 100

/** Connections of one gate to a shared store. */
export const CONNECTIONS_MAX = 4
/** The file that PGPASSFILE names. */
export const PASSWORD_FILE_BYTES_MAX = 65_536
/** A new connection to a shared store. */
export const CONNECT_TIMEOUT_MS = 2_000
/** A statement on the shared store; after it the connection is closed, and its effect is unknown. */
export const STATEMENT_DEADLINE_MS = 2_000
/** The same for the admission of calls, which wait for it. */
export const ADMIT_DEADLINE_MS = 900
/** A migration of the tables of a shared store, and the first look at them. */
export const MIGRATE_DEADLINE_MS = 30_000
/** A statement of `sluice store move`, which writes megabytes while nobody else waits. */
export const MOVE_DEADLINE_MS = 120_000
/** Calls, outcomes and events in one statement. */
export const ADMIT_BATCH_MAX = 256
/** Calls that wait for admission; one more is refused. */
export const ADMIT_WAITING_MAX = 4_096
/** Outcomes, refusals and events that wait for the shared store; of more the oldest are dropped. */
export const SHARED_ROWS_WAITING_MAX = 20_000
/** Statements with records that wait before charges of a lost answer are given back. */
export const UNDO_BATCHES_MAX = 100
/** Bytes of all records in one statement. */
export const ADMIT_BYTES_MAX = 4 * 1_048_576
/** The first pause before the shared store is tried again, and the longest. */
export const SHARED_RETRY_MS_MIN = 100
export const SHARED_RETRY_MS_MAX = 1_000
/** How often a gate looks for changes of other gates while it admits nothing. */
export const SHARED_POLL_MS = 500
/** How often a gate says that it is there. */
export const GATE_BEAT_MS = 1_000
/** A gate that has not said so for so long counts as gone. */
export const GATE_GONE_MS = 10_000
/** Records of a chain in one answer of the shared store. */
export const CHAIN_PAGE_ROWS = 1_000
/** How long a freeze waits for the other gates to confirm it, and how often it looks. */
export const CONFIRM_MS_MAX = 2_000
export const CONFIRM_LOOK_MS = 50
/** Charges that a gate remembers, to charge them again after a failover that lost them. */
export const RECENT_CHARGES_MAX = 20_000
/** Records that a gate gives back to a database that lost them; of more a person decides. */
export const LOST_RECORDS_MAX = 20_000
/** Records of a chain that are dropped in one statement. */
export const DROPPED_RECORDS_MAX = 2_000
/** How often a gate removes counters of the shared store whose window is over, and how many at once. */
export const SWEEP_EVERY_MS = 60_000
export const SWEPT_COUNTERS_MAX = 5_000
/** How long an outcome waits for a call to be written with. */
export const SHARED_OUTCOME_DELAY_MS = 50
/** How often a gate says which sessions of the shared store are in use. */
export const SESSION_TOUCH_MS = 20_000
/** Sessions that a gate gives back in one statement to a database that lost them. */
export const SESSIONS_RESTORED_AT_ONCE = 500
/** Sessions and principals of the shared store that are removed at once, after their time. */
export const SWEPT_SESSIONS_MAX = 1_000
/** A batch of statements of the agents' step thread, and how much longer the thread waits for the answer. */
export const BLOCKING_DEADLINE_MS = 5_000
export const BLOCKING_GRACE_MS = 500
/** How long a gate drives its agents without saying that it is there; then another gate takes them over. */
export const AGENT_LEASE_MS = 10_000
/** How often it says so, and looks for agents whose gate is gone. */
export const AGENT_BEAT_MS = 2_000
/** Families of agents that a gate takes over at once: the others leave some to each other. */
export const AGENT_FAMILIES_TAKEN_MAX = 32
/** How long a transaction of the agents waits for a lock, and how long a gate that was stopped in one holds it. */
export const AGENT_LOCK_MS_MAX = 2_000
export const AGENT_IDLE_MS_MAX = 3_000
/** Work that one gate of a cluster does at a time: how long, how long others wait, how often they look. */
export const LEASE_MS = 30_000
export const LEASE_WAIT_MS_MAX = 40_000
export const LEASE_LOOK_MS = 100
/** How far the clock of a gate may be from that of the database; past that the gate admits nothing. */
export const CLOCK_SKEW_MS_MAX = 30_000
/** A call is sent so soon after its admission was asked for, or not at all. */
export const SENT_WITHIN_MS = 2_000
