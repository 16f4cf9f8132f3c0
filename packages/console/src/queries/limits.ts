// Bounds of what the console sends and receives, by name and unit. Those of the API as a whole are
// in limits.ts.

/** Newest ledger records that the list of events looks through. */
export const EVENT_RECORDS_MAX = 20_000

/** Points of the overview's chart. */
export const OVERVIEW_INTERVALS = 60
/** Names in each list of the overview: those with the most calls. */
export const OVERVIEW_TOP = 8
/** Bars of the histogram over the ledger. */
export const HISTOGRAM_INTERVALS = 90
/** Newest ledger records that the histogram counts when the search has free text. */
export const SEARCHED_RECORDS_MAX = 1_000_000
/** Ledger records that one request searches for free text; the next page continues from there. */
export const SEARCH_STEP_RECORDS = 1_000_000
/** Ledger records that the histogram counts in one go, before other queries have their turn. */
export const HISTOGRAM_STEP_RECORDS = 500_000
/**
 * Minutes of the ledger's counts that the histogram adds up in one go, before other queries have
 * their turn.
 */
export const HISTOGRAM_STEP_MINUTES = 100_000
/** Callers or approvers whose sums are listed. */
export const SUM_GROUPS_MAX = 50
/** Recorded values that are looked at in one go, before other queries have their turn. */
export const VALUES_STEP = 50_000
/** How long calls are sought in the order of a value before what was found is answered, with the progress. */
export const VALUES_SEARCHED_MS = 1_000
/** Columns of recorded values in an export of calls. */
export const VALUE_COLUMNS_MAX = 50
/** Names that are suggested for a filter. */
export const SUGGESTED_NAMES_MAX = 20
/** Names of a column that are searched for suggestions. */
export const SUGGESTION_WORDS_MAX = 20_000

/**
 * How long a query waits for the ledger's index to catch up. Beyond it, the answer says how many
 * records are missing.
 */
export const INDEX_WAIT_MS = 200
/** Records that the ledger's index takes in at a time while a query waits. */
export const INDEX_STEP_RECORDS = 2_000
/**
 * Ledger records that are read backwards to find a call, and forwards to find its outcome, before
 * the index is used.
 */
export const CALL_READ_RECORDS_MAX = 20_000
/**
 * Largest difference between the time of a row and that of its ledger record; a call outside it is
 * not found.
 */
export const CALL_FOUND_WITHIN_MS = 120_000
/** Events that the console lists, newest first. */
export const EVENTS_MAX = 300
/**
 * Queries that wait for the thread that reads the ledger. Further ones are refused with
 * `API_LIMIT`.
 */
export const READINGS_MAX = 64
/** How long the thread that reads the ledger stays up without a query. */
export const READER_IDLE_MS = 120_000
/**
 * How long that thread stays up without a query if it follows the records of all gates that share a
 * store: until then, they are up to date when somebody comes back.
 */
export const FOLLOWER_IDLE_MS = 7 * 24 * 60 * 60_000
/** How often it looks for records of the other gates while nobody asks. */
export const FOLLOW_EVERY_MS = 5_000
/** How long a query waits for records of the other gates. Beyond it, the answer says how many are missing. */
export const FOLLOW_WAIT_MS = 2_000
/** Free disk space below which records of the other gates are no longer copied. */
export const FOLLOW_FREE_BYTES_MIN = 512 * 1_048_576

/** Length of a policy draft in the console: that of a policy document. A longer one is refused. */
export const DRAFT_LENGTH_MAX = 1_024 * 1_024
/** How far back a policy draft is replayed against recorded calls. */
export const REPLAY_MS = 24 * 60 * 60_000
/** Versions of the policy that the console keeps; the oldest is dropped. */
export const POLICY_VERSIONS_KEPT = 500
/** Characters of a rule that are shown beside a call. */
export const RULE_TEXT_LENGTH_MAX = 4_000
/** Characters of a tool's definition, and of its catalogue page, that are shown. */
export const DEFINITION_LENGTH_SHOWN = 200_000

/** Definitions waiting for a person that are shown at once; the others when these are decided. */
export const PENDING_SHOWN = 200
/** Length of them together, beyond which no further one is shown. */
export const PENDING_LENGTH_SHOWN = 4_000_000
/** Tools of a server up to which the page of one tells of the others: each takes a third of a millisecond. */
export const NEIGHBOURS_MAX = 1_000
/** Characters of a line that is read for families of command lines; a longer one is refused, and not suggested. */
export const FAMILY_LINE_LENGTH_MAX = 4_000
/** Newest approval requests of a caller that are looked through for the command lines of one session. */
export const SESSION_LINES_READ = 200
/** Agents in the console's list. */
export const AGENTS_SHOWN = 500
/** Newest messages of an agent that are shown. */
export const MESSAGES_SHOWN = 400
/** Characters of one message that are shown. */
export const MESSAGE_LENGTH_SHOWN = 20_000
/** Agents that a fork is read back to, for the turns that it has in common with them. */
export const FORK_ORIGINS_READ = 5
/** Characters of an agent's file that are shown. */
export const FILE_LENGTH_SHOWN = 500_000
/** Pages of its journal that are read to show the turns of an agent. */
export const JOURNAL_PAGES_READ = 20
/** Ledger calls that are read to show the turns of an agent. */
export const AGENT_CALLS_READ = 500
/**
 * How long a prompt from the console waits for its run to end; then the run continues and the page
 * watches it.
 */
export const PROMPT_WAIT_MS = 200
