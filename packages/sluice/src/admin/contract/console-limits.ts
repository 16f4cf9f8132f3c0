// Bounds of what the console sends and receives, by name and unit. Those of the API as a whole are
// in limits.ts.

/** Exact counters are sent this often, to each who looks. */
export const LIVE_TICK_MS = 250
/** Fifty rows a second are more than anybody reads. */
export const LIVE_ROWS_A_TICK = 12
/** How calls ended whose rows were sent before: as many as a page keeps rows. */
export const LIVE_ENDS_A_TICK = 1_000
/** A minute of ticks, for pages that lost their stream. */
export const LIVE_TICKS_KEPT = 240
/** Read when Live opens, on the gate's own thread: a few milliseconds. */
export const LIVE_PAST_RECORDS_MAX = 2_000
export const LIVE_PAST_MS = 10 * 60_000
/** Counted second by second, in seconds; and series of one second that keep the name of their tool. */
export const LIVE_HISTORY_S = 300
export const LIVE_HISTORY_COUNTS_MAX = 200
export const LIVE_PAST_ROWS = 100

/** The overview: points of its plot, and names of each list. */
export const OVERVIEW_INTERVALS = 60
export const OVERVIEW_TOP = 8
/** Bars over the ledger. */
export const HISTOGRAM_INTERVALS = 90
/** The newest records, which bars over a free text are counted among. */
export const SEARCHED_RECORDS_MAX = 1_000_000
/** Records that one answer looks through for a free text; the next page goes on from there. */
export const SEARCH_STEP_RECORDS = 1_000_000
/** Records, and minutes, that bars over the ledger are counted among before other questions are answered. */
export const HISTOGRAM_STEP_RECORDS = 500_000
export const HISTOGRAM_STEP_MINUTES = 100_000
/** Names that are suggested for a filter, and how many of its column are looked through for them. */
export const SUGGESTED_NAMES_MAX = 20
export const SUGGESTION_WORDS_MAX = 20_000

/** How long a question waits for the index of the ledger, and how many records that takes in at a time:
 * what is left is taken in after the answer, which says how much it is. */
export const INDEX_WAIT_MS = 200
export const INDEX_STEP_RECORDS = 2_000
/** A call is looked for so far from the end of the record, and its outcome so far behind it, before the
 * index is asked. */
export const CALL_READ_RECORDS_MAX = 20_000
/** How far the time of a row and that of its record may lie apart. */
export const CALL_FOUND_WITHIN_MS = 120_000
export const EVENTS_MAX = 300
/** Questions to the thread that reads the ledger, and how long it stays when there are none. */
export const READINGS_MAX = 64
export const READER_IDLE_MS = 120_000

/** A call from the console: how long it waits for its answer (a held call ends then), and characters of
 * its arguments and of what is shown. */
export const TRIED_CALL_MS = 60_000
export const TRIED_ANSWER_LENGTH_MAX = 100_000

/** As long as the language takes. */
export const DRAFT_LENGTH_MAX = 1_024 * 1_024
export const REPLAY_MS = 24 * 60 * 60_000
export const POLICY_VERSIONS_KEPT = 500
/** Of a rule that is shown beside a call. */
export const RULE_TEXT_LENGTH_MAX = 4_000
/** Of a definition or a page of the catalogue. */
export const DEFINITION_LENGTH_SHOWN = 200_000

/** Agents in the list, and what is shown of one. */
export const AGENTS_SHOWN = 500
export const MESSAGES_SHOWN = 400
export const MESSAGE_LENGTH_SHOWN = 20_000
export const FILE_LENGTH_SHOWN = 500_000
/** Pages of a journal, and calls of the ledger, that are read for the turns of an agent. */
export const JOURNAL_PAGES_READ = 20
export const AGENT_CALLS_READ = 500
/** How often it is looked whether an agent that somebody watches has begun a run, and how long one wait
 * for its end lasts. */
export const WATCH_AGENT_EVERY_MS = 1_000
export const WATCH_RUN_MS = 20_000
/** The page polls at this interval. */
export const PROMPT_WAIT_MS = 200
