// Every bound of the agents, by name and unit. What meets one is refused with an error that carries
// the limit; nothing is cut silently.

/** Events that are in the step thread at once, the running one included; behind them owners take turns. */
export const STEPS_AT_ONCE = 4
/** A request and an agent that cannot take long in it; of all others one is in the thread at once, so
 * that nobody waits there for more than one. */
export const LIGHT_REQUEST_LENGTH = 65_536
export const LIGHT_AGENT_BYTES = 262_144
/** How long one slice of an operation runs that is done in slices, before others have their turn. */
export const SLICE_MS = 25
/** Files whose content is read in one piece, if they are small or there is one. */
export const FILES_IN_ONE_PIECE = 32
/** Operations in slices that are under way at once, each with a copy of an agent's memory; behind them
 * owners take turns. */
export const SLICED_AT_ONCE = 2
/** Instances kept ready in the step thread, and the memory they may take together. */
export const RESIDENTS_MAX = 64
export const RESIDENT_BYTES_MAX = 192 * 1_048_576
/** Of these, who was needed only once; and how many that had to leave are remembered. */
export const RESIDENTS_ONCE_MAX = 4
export const RESIDENTS_SEEN_MAX = 1_000
/** What is packed of a memory in one piece. */
export const PACK_BYTES = 1_048_576
/** Agents whose memory is being packed for a checkpoint: each is a copy. Of others it is due later. */
export const PACKING_AGENTS_MAX = 4
/** A checkpoint after this many events or bytes of events. */
export const CHECKPOINT_EVENTS = 64
export const CHECKPOINT_EVENT_BYTES = 262_144
/** Or after so many counted steps of events (see `STEP_POLLS_MAX`), so that a replay after a crash is not
 * long. */
export const CHECKPOINT_POLLS = 40
/** At the end of a run, once there are this many: a checkpoint costs what the agent is large. */
export const CHECKPOINT_RUN_EVENTS = 16
/** An agent that leaves memory with no more events than this is replayed instead of checkpointed. */
export const REPLAY_EVENTS_MAX = 4
/** Events read at once when a journal is replayed for somebody who wants it checked. */
export const REPLAY_EVENTS_AT_ONCE = 16
/** Answers to the event that creates an agent, by config; and how long a config may be for that. */
export const KNOWN_STARTS_MAX = 64
export const KNOWN_START_LENGTH_MAX = 65_536
/** Rows of agents and of families kept beside the database. */
export const ROWS_KEPT_MAX = 2_000
/** Commits after which the write-ahead log is moved when nobody waits, and the pages (of 4 KiB) at
 * which a commit has to do it. */
export const WAL_MOVED_COMMITS = 250
export const WAL_PAGES_MAX = 16_000
/** How long nobody may have asked for anything before the thread tidies up. */
export const TIDY_PAUSE_MS = 25
/** How far back an event is looked for whose answer was lost with a thread. */
export const NONCE_EVENTS_MAX = 1_000
/** Agents of which is known that no such event can be theirs. */
export const OWN_EVENTS_AGENTS_MAX = 100_000
/** Answers of guests cached for the next caller. */
export const ANSWERS_KEPT_MAX = 2_000
export const ANSWERS_KEPT_BYTES_MAX = 16 * 1_048_576
export const ANSWER_KEPT_BYTES_MAX = 65_536
/** Agents of one owner, and one family's depth and size. */
export const AGENTS_PER_OWNER_MAX = 200_000
export const DEPTH_MAX = 4
export const FORKS_MAX = 1_000
export const CHILDREN_MAX = 1_000
export const LIST_PAGE_MAX = 100
export const HISTORY_PAGE_MAX = 200
export const HISTORY_PAGE_LENGTH = 4 * 1_048_576
/** Events of one agent that are kept unless said otherwise, and how many of the newest always are. */
export const HISTORY_MEGABYTES_DEFAULT = 64
export const HISTORY_EVENTS_MIN = 16
/** Agents looked at in one pause for events that are too old, and how often all of them are. */
export const SWEEP_AGENTS = 50
export const SWEEP_EVERY_MS = 6 * 3_600_000
/** A time limit that could not be delivered to its agent is tried again after this. */
export const WAKE_AGAIN_MS = 60_000
/** Model calls at once, of all agents; the others wait their turn. */
export const MODEL_CALLS_MAX = 128
/** How much more than the largest so far a model call of a family may come to while others are out. */
export const BUDGET_MARGIN = 2
/** What a page of the conversation holds when it is read out. */
export const MESSAGES_PAGE_LENGTH = 1_000_000
/** Files of an agent, unless it was created with less. */
export const FILE_BYTES_MAX = 1_048_576
export const FILES_BYTES_MAX = 8 * 1_048_576
export const FILES_MAX = 1_000
export const MAX_TURNS_DEFAULT = 50
export const MAX_TURNS_MAX = 100_000
export const CONTEXT_TOKENS_DEFAULT = 120_000
export const NO_PROGRESS_DEFAULT = 3
export const INSTRUCTIONS_LENGTH_MAX = 100_000
export const PROMPT_LENGTH_MAX = 1_000_000
export const TOOLS_GRANTED_MAX = 256
/** How long a prompt is waited for: clients give up at 60 s. */
export const WAIT_MS_DEFAULT = 45_000
export const WAIT_MS_MAX = 600_000
/** How often a client that polls a task should ask. */
export const TASK_POLL_MS = 1_000
/** Attempts of a model call, and the pauses between them: from the first, doubling, to the second. */
export const MODEL_ATTEMPTS = 4
export const MODEL_RETRY_MS_MIN = 500
export const MODEL_RETRY_MS_MAX = 20_000
export const MODEL_TIMEOUT_MS = 300_000
/** What a server of models may answer in all, unpacked. */
export const MODEL_ANSWER_BYTES_MAX = 16 * 1_048_576
/** Commas and colons of such an answer: about as many values, which are parsed in one piece. */
export const MODEL_ANSWER_MARKS_MAX = 50_000
export const MODEL_OUTPUT_LENGTH_MAX = 1_000_000
/** The size of a script; how many stay in memory, and how long one may be for that. */
export const SCRIPT_BYTES_MAX = 4 * 1_048_576
export const SCRIPTS_KEPT_MAX = 8
export const SCRIPT_KEPT_LENGTH_MAX = 262_144
/** A program that an agent wrote: its time, its counted steps, its calls, what it prints. */
export const PROGRAM_TIMEOUT_MS = 5_000
export const PROGRAM_POLLS_MAX = 50_000
export const PROGRAM_TOOL_CALLS_MAX = 100
/** Between these an agent may be given another time and number of calls at create; steps follow the
 * time. A program that runs takes one of the threads of all. */
export const PROGRAM_TIMEOUT_MS_MIN = 100
export const PROGRAM_TIMEOUT_MS_MAX = 30_000
export const PROGRAM_TOOL_CALLS_TOP = 1_000
/** What its calls say, and what their answers say, each together, in UTF-16 code units. */
export const PROGRAM_INPUTS_LENGTH_MAX = 8 * 1_048_576
export const PROGRAM_ANSWERS_LENGTH_MAX = 8 * 1_048_576
export const PROGRAM_CODE_LENGTH_MAX = 200_000
export const CODE_THREADS = 2
/** Memories of programs that wait, together; the largest are given up and made again when needed. */
export const RESTING_BYTES_MAX = 64 * 1_048_576
/** An export that is brought in, as text or as a bundle, and what its JSON unpacks to: some three
 * times what an agent may hold. */
export const IMPORT_BYTES_MAX = 64 * 1_048_576
export const IMPORT_JSON_BYTES_MAX = 64 * 1_048_576
/** Array elements and members of an import, and how deep they may lie in each other. */
export const IMPORT_ELEMENTS_MAX = 500_000
export const IMPORT_DEPTH_MAX = 200
/** What of it goes into a guest: texts of the conversation, as the guest itself bounds them, and all of
 * messages and todos as JSON. */
export const IMPORT_CONVERSATION_LENGTH_MAX = 4_000_000
export const IMPORT_STATE_BYTES_MAX = 16 * 1_048_576
/** Labels that an import brings. */
export const IMPORT_LABELS_MAX = 64
/** Templates and containers that are brought in. */
export const TEMPLATE_ELEMENTS_MAX = 100_000
/** Memory of V8 in the threads of the agents, in megabytes; memories of guests are bounded beside it.
 * A thread that meets it ends, the request that did fails, and a new thread goes on. */
export const STEP_HEAP_MEGABYTES = 512
export const TRANSFER_HEAP_MEGABYTES = 768
/** How long one export or import may take; whose takes longer fails. */
export const TRANSFER_TIMEOUT_MS = 60_000
/** Exports and imports at once; behind them owners take turns. */
export const TRANSFERS_AT_ONCE = 1
export const TEMPLATES_MAX = 1_000
export const TEMPLATE_BYTES_MAX = 262_144
/** Messages of an agent that somebody looks at from outside; the last ones. */
export const LOOKED_MESSAGES_MAX = 1_000
/** What is read of a file of an agent for somebody outside, and of its first prompt for the list. */
export const LOOKED_FILE_BYTES_MAX = 1_048_576
export const LOOKED_TASK_LENGTH = 200
/** How long the use of a family is kept after its last agent was removed, and of how many families of an
 * owner: an import within that time continues the budget. */
export const REMOVED_FAMILY_KEPT_MS = 30 * 24 * 3_600_000
export const REMOVED_FAMILIES_MAX = 1_000

/** Text of a model that somebody follows is sent in pieces: after so long, or at so many characters. */
export const TEXT_PIECE_MS = 100
export const TEXT_PIECE_LENGTH_MAX = 4_096
/** Time of the first event of an agent that is imported or moves to a newer core, in the transfer thread. */
export const BEGIN_TIMEOUT_MS = 10_000
/** Keys that a gate takes from a shared store at once; a fork needs as many that follow one another. */
export const AGENT_KEYS_AT_ONCE = 1_000
/** How often a gate looks for what other gates ask of its agents, and how many requests it takes at once. */
export const AGENT_REQUEST_LOOK_MS = 100
export const AGENT_REQUESTS_AT_ONCE = 64
/** How long a gate waits for another one that runs an agent: longer than a caller may wait for a run. */
export const AGENT_REQUEST_MS_MAX = 630_000
/** An answer to another gate. */
export const AGENT_REQUEST_BYTES_MAX = 128 * 1_048_576
/** Requests that nobody fetched the answer of are removed after this. */
export const AGENT_REQUEST_KEPT_MS = 900_000
/** Calls of agents that a gate remembers to have sent, to send none again if a failover loses the step. */
export const CALLS_SENT_KEPT_MAX = 10_000
/** Every so many renewals of its lease a gate looks for effects of its agents that the shared store kept from
 * beginning. */
export const AGENT_LOOK_BEATS = 5
/** How long a result waits before it is stored again, if the shared store did not answer. */
export const RESULT_RETRY_MS = 1_000
