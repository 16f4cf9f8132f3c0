// Every bound of the agents, by name and unit. What meets one is refused with an error that carries
// the limit; nothing is cut silently.

/**
 * Events that are in the step thread at once, the running one included. Behind them, owners take
 * turns.
 */
export const STEPS_AT_ONCE = 4
/**
 * Length up to which a request counts as light. Only one request that is not light is in the step
 * thread at a time.
 */
export const LIGHT_REQUEST_LENGTH = 65_536
/**
 * Bytes of its files up to which an agent counts as light. Only one request to an agent that is not
 * light is in the step thread at a time.
 */
export const LIGHT_AGENT_BYTES = 262_144
/**
 * How long one slice of an operation that is done in slices runs, before others have their turn.
 */
export const SLICE_MS = 25
/**
 * Files whose contents are read in one piece, if together they are small. More are read in slices.
 */
export const FILES_IN_ONE_PIECE = 32
/**
 * Operations that are done in slices at once, each with a copy of an agent's memory. Behind them,
 * owners take turns.
 */
export const SLICED_AT_ONCE = 2
/**
 * Agents that stay instantiated in the step thread. Beyond it, the least recently used one is
 * unloaded.
 */
export const RESIDENTS_MAX = 64
/**
 * Memory of all agents that stay instantiated in the step thread. Beyond it, the least recently
 * used one is unloaded.
 */
export const RESIDENT_BYTES_MAX = 192 * 1_048_576
/** Agents that stay instantiated although they were used only once. */
export const RESIDENTS_ONCE_MAX = 4
/** Agents unloaded after a single use that are remembered, to keep them longer the next time. */
export const RESIDENTS_SEEN_MAX = 1_000
/** Bytes of an agent's memory that are compressed in one piece. */
export const PACK_BYTES = 1_048_576
/**
 * Agents whose memory is being compressed for a checkpoint, each a copy. Those of others are made
 * later.
 */
export const PACKING_AGENTS_MAX = 4
/** Events of an agent after which a checkpoint is made. */
export const CHECKPOINT_EVENTS = 64
/** Bytes of an agent's events after which a checkpoint is made. */
export const CHECKPOINT_EVENT_BYTES = 262_144
/**
 * Counted steps of an agent (see `STEP_POLLS_MAX`) after which a checkpoint is made, so that replay
 * after a crash stays short.
 */
export const CHECKPOINT_POLLS = 40
/** Events after which a checkpoint is made at the end of a run. */
export const CHECKPOINT_RUN_EVENTS = 16
/**
 * Events since its last checkpoint up to which an agent that is unloaded gets no new one, and is
 * replayed instead.
 */
export const REPLAY_EVENTS_MAX = 4
/** Events that are read at a time when a journal is verified by replay. */
export const REPLAY_EVENTS_AT_ONCE = 16
/** Answers to the event that creates an agent that are cached, by config. */
export const KNOWN_STARTS_MAX = 64
/** Length of a config up to which the answer to the event that creates an agent is cached. */
export const KNOWN_START_LENGTH_MAX = 65_536
/** Rows of agents, and likewise of families, that are cached beside the database. */
export const ROWS_KEPT_MAX = 2_000
/** Commits after which the agents' write-ahead log is checkpointed while the thread is idle. */
export const WAL_MOVED_COMMITS = 250
/** Pages (4 KiB) of the agents' write-ahead log at which a commit has to checkpoint it. */
export const WAL_PAGES_MAX = 16_000
/** How long the step thread must be idle before it does its housekeeping. */
export const TIDY_PAUSE_MS = 25
/**
 * Newest events of an agent that are searched for one whose answer was lost with a crashed thread.
 */
export const NONCE_EVENTS_MAX = 1_000
/**
 * Agents known to have no event whose answer was lost, so that their journal need not be searched;
 * the set is cleared when it is full.
 */
export const OWN_EVENTS_AGENTS_MAX = 100_000
/** Answers of agents to queries that are cached; the oldest is dropped. */
export const ANSWERS_KEPT_MAX = 2_000
/** Size of all cached answers of agents to queries; the oldest is dropped. */
export const ANSWERS_KEPT_BYTES_MAX = 16 * 1_048_576
/** Size of an answer of an agent up to which it is cached. */
export const ANSWER_KEPT_BYTES_MAX = 65_536
/** Agents of one owner. A further one is refused. */
export const AGENTS_PER_OWNER_MAX = 200_000
/** Generations of agents that were created by agents. An agent at this depth cannot create any. */
export const DEPTH_MAX = 4
/** Forks that one request may ask for. */
export const FORKS_MAX = 1_000
/** Characters of the name of a fork. */
export const FORK_NAME_MAX = 100
/** Agents of one family. A further one is refused. */
export const CHILDREN_MAX = 1_000
/** Agents on one page of the list. */
export const LIST_PAGE_MAX = 100
/** Events on one page of an agent's history. */
export const HISTORY_PAGE_MAX = 200
/** Length of one page of an agent's history; a page has at least one event. */
export const HISTORY_PAGE_LENGTH = 4 * 1_048_576
/** Events of one agent that are kept, unless configured otherwise; the oldest are dropped. */
export const HISTORY_MEGABYTES_DEFAULT = 64
/** Newest events of an agent that are always kept. */
export const HISTORY_EVENTS_MIN = 16
/** Agents that are searched for expired events in one idle period. */
export const SWEEP_AGENTS = 50
/** How often all agents are searched for expired events. */
export const SWEEP_EVERY_MS = 6 * 3_600_000
/**
 * How often it is looked whether a schedule or a limit of time is due: a machine may sleep, and its clock may be set,
 * which no timer notices.
 */
export const WAKE_LOOK_MS = 60_000
/** How long a wake-up that could not be delivered to its agent is postponed. */
export const WAKE_AGAIN_MS = 60_000
/** Schedules of one agent. A further one is refused. */
export const SCHEDULES_PER_AGENT_MAX = 16
/** Schedules of all agents of one owner. A further one is refused. */
export const SCHEDULES_PER_OWNER_MAX = 1_000
/**
 * Prompts of schedules and webhooks that are being begun at once. Behind them, agents take turns; one that waits for an
 * approval does not count.
 */
export const SCHEDULES_BEGUN_AT_ONCE = 4
/** Due schedules that are looked at together, besides those that wait for an approval or a further attempt. */
export const SCHEDULES_DUE_MAX = 1_000
/** When a prompt of a schedule that could not be tried, as the store was away, is tried again. */
export const SCHEDULE_AGAIN_MS = 60_000
/** How long the call that prompts an agent for a schedule may take. */
export const SCHEDULE_CALL_MS = 60_000
/** Model calls of all agents at once. Further ones wait; owners take turns. */
export const MODEL_CALLS_MAX = 128
/**
 * Factor by which the cost of a family's concurrent model calls may exceed their estimate. A call
 * that would not fit its budget then waits for the others.
 */
export const BUDGET_MARGIN = 2
/** Size of one page of an agent's conversation. */
export const MESSAGES_PAGE_LENGTH = 1_000_000
/** Size of one file of an agent, unless it was created with another limit. */
export const FILE_BYTES_MAX = 1_048_576
/** Size of all files of an agent together; an agent may be created with less. */
export const FILES_BYTES_MAX = 8 * 1_048_576
/** Files of an agent; an agent may be created with fewer. */
export const FILES_MAX = 1_000
/** Turns (answered model calls) in the life of an agent, unless it was created with `maxTurns`. */
export const MAX_TURNS_DEFAULT = 50
/** Largest `maxTurns` of an agent. */
export const MAX_TURNS_MAX = 100_000
/**
 * Tokens of the conversation beyond which it is summarised, unless the agent was created with
 * `contextTokens`.
 */
export const CONTEXT_TOKENS_DEFAULT = 120_000
/**
 * Consecutive turns with the same calls and results after which an agent stops, unless it was
 * created with `noProgress`.
 */
export const NO_PROGRESS_DEFAULT = 3
/** Length of an agent's instructions. Longer ones are refused, or cut when profiles are merged. */
export const INSTRUCTIONS_LENGTH_MAX = 100_000
/** Length of a prompt. A longer one is refused. */
export const PROMPT_LENGTH_MAX = 1_000_000
/** Length of the schema of a final answer, as JSON. A longer one is refused. */
export const ANSWER_SCHEMA_LENGTH_MAX = 8_192
/** Tools that an agent may be granted. */
export const TOOLS_GRANTED_MAX = 256
/** How long a prompt is waited for without `waitMs`: most clients give up after 60 seconds. */
export const WAIT_MS_DEFAULT = 45_000
/** Longest `waitMs` of a prompt. */
export const WAIT_MS_MAX = 600_000
/** Poll interval that clients of a task are asked to use. */
export const TASK_POLL_MS = 1_000
/** Attempts of one model call. */
export const MODEL_ATTEMPTS = 4
/** Pause after the first failed attempt of a model call; it doubles with each further one. */
export const MODEL_RETRY_MS_MIN = 500
/**
 * Longest pause between two attempts of a model call, also if the provider asks for a longer one.
 */
export const MODEL_RETRY_MS_MAX = 20_000
/** How long one attempt of a model call may take. */
export const MODEL_TIMEOUT_MS = 300_000
/** Uncompressed size of a model provider's response. Beyond it the call fails. */
export const MODEL_ANSWER_BYTES_MAX = 16 * 1_048_576
/**
 * Commas, colons and opening brackets of a model provider's response: about as many values, which
 * are parsed in one piece. Beyond it the call fails.
 */
export const MODEL_ANSWER_MARKS_MAX = 50_000
/** Length of a model's text and tool calls in one turn. Beyond it the call fails. */
export const MODEL_OUTPUT_LENGTH_MAX = 1_000_000
/**
 * Tokens of one model call, in and out each, that are counted. A provider that reports more is
 * counted with this many, so that sums of all calls stay exact integers.
 */
export const MODEL_USAGE_TOKENS_MAX = 100_000_000
/** Size of the script of a scripted model. A larger one is refused. */
export const SCRIPT_BYTES_MAX = 4 * 1_048_576
/** Scripts of scripted models that are cached. */
export const SCRIPTS_KEPT_MAX = 8
/** Length of a script up to which it is cached. */
export const SCRIPT_KEPT_LENGTH_MAX = 262_144
/**
 * CPU time of a program that an agent wrote, unless the agent was created with `code.timeoutMs`.
 * Beyond it the program fails.
 */
export const PROGRAM_TIMEOUT_MS = 5_000
/**
 * Counted steps of a program with the default CPU time; they scale with `code.timeoutMs`. Beyond it
 * the program fails.
 */
export const PROGRAM_POLLS_MAX = 50_000
/**
 * Tool calls of a program, unless the agent was created with `code.toolCalls`. Beyond it the
 * program fails.
 */
export const PROGRAM_TOOL_CALLS_MAX = 100
/** Smallest `code.timeoutMs` of an agent. */
export const PROGRAM_TIMEOUT_MS_MIN = 100
/** Largest `code.timeoutMs` of an agent: a running program occupies one of the shared threads. */
export const PROGRAM_TIMEOUT_MS_MAX = 30_000
/** Largest `code.toolCalls` of an agent. */
export const PROGRAM_TOOL_CALLS_TOP = 1_000
/** Length of the arguments of all calls of a program. Beyond it the program fails. */
export const PROGRAM_INPUTS_LENGTH_MAX = 8 * 1_048_576
/**
 * Length of all answers to the calls of a program. Beyond it, the program gets an error instead of
 * the answer.
 */
export const PROGRAM_ANSWERS_LENGTH_MAX = 8 * 1_048_576
/**
 * How long a result of a program's call may be known before it is in the journal, if the program makes no
 * other call meanwhile.
 */
export const PROGRAM_NOTED_MS = 20
/** Length of the code of a program. Longer code is refused. */
export const PROGRAM_CODE_LENGTH_MAX = 200_000
/** Threads in which the programs of all agents run. */
export const CODE_THREADS = 2
/**
 * Memory of all suspended programs. Beyond it, the largest are dropped, and replayed when they
 * continue.
 */
export const RESTING_BYTES_MAX = 64 * 1_048_576
/** Size of an import, as text or as a bundle. A larger one is refused. */
export const IMPORT_BYTES_MAX = 64 * 1_048_576
/**
 * Uncompressed size of the JSON of a bundle: about three times what an agent may hold. A larger one
 * is refused.
 */
export const IMPORT_JSON_BYTES_MAX = 64 * 1_048_576
/** Array elements and object members of an import. An import with more is refused. */
export const IMPORT_ELEMENTS_MAX = 500_000
/** Nesting of an import or a template. A deeper one is refused. */
export const IMPORT_DEPTH_MAX = 200
/** Length of the messages of an import. A longer conversation is refused. */
export const IMPORT_CONVERSATION_LENGTH_MAX = 4_000_000
/** Size of the messages and todos of an import, as JSON. A larger import is refused. */
export const IMPORT_STATE_BYTES_MAX = 16 * 1_048_576
/**
 * Turns, tool calls, tokens and millionths of cost, each, that an import has used. An import with
 * more is refused: what it uses from then on has to stay an exact integer.
 */
export const IMPORT_USED_MAX = 1_000_000_000_000_000
/** Runs, and effects, that a paused agent has under way when it is imported. An import with more is refused. */
export const IMPORT_WORK_MAX = 256
/** Labels of an import. An import with more is refused. */
export const IMPORT_LABELS_MAX = 64
/**
 * Array elements and object members of an imported template or RVF container. One with more is
 * refused.
 */
export const TEMPLATE_ELEMENTS_MAX = 100_000
/**
 * V8 heap of the step thread, without the memories of guests. Beyond it the thread ends, its
 * request fails, and a new thread takes over.
 */
export const STEP_HEAP_MEGABYTES = 512
/**
 * V8 heap of the transfer thread, without the memories of guests. Beyond it the thread ends,
 * its request fails, and a new thread takes over.
 */
export const TRANSFER_HEAP_MEGABYTES = 768
/** How long one export or import may take. Beyond it, it fails. */
export const TRANSFER_TIMEOUT_MS = 60_000
/** Exports and imports at once. Behind them, owners take turns. */
export const TRANSFERS_AT_ONCE = 1
/** Bytes of messages and files up to which an export is finished outside of the transfer thread. */
export const SEALED_HERE_BYTES_MAX = 16_384
/** Templates of one owner. A further one is refused. */
export const TEMPLATES_MAX = 1_000
/** Length of all templates of one owner as JSON. A further one is refused. */
export const TEMPLATES_LENGTH_MAX = 4 * 1_048_576
/** Length of a template as JSON. A longer one is refused. */
export const TEMPLATE_BYTES_MAX = 262_144
/** Newest messages of an agent that are shown to an operator. */
export const LOOKED_MESSAGES_MAX = 1_000
/** Bytes of an agent's file that are shown to an operator. */
export const LOOKED_FILE_BYTES_MAX = 1_048_576
/** Characters of an agent's first prompt that are shown in the list. */
export const LOOKED_TASK_LENGTH = 200
/**
 * How long the spent budget of a family is kept after its last agent was removed. An import within
 * that time continues it.
 */
export const REMOVED_FAMILY_KEPT_MS = 30 * 24 * 3_600_000
/** Removed families of one owner whose spent budget is kept; the oldest is dropped. */
export const REMOVED_FAMILIES_MAX = 1_000
/** How long tokens and cost by minute and hour are kept. The console compares 30 days with the 30 before. */
export const USAGE_KEPT_MS = 400 * 24 * 3_600_000

/** How long streamed text of a model is collected before it is sent. */
export const TEXT_PIECE_MS = 100
/** Length of streamed text of a model at which it is sent at once. */
export const TEXT_PIECE_LENGTH_MAX = 4_096
/** How long the first event of an agent may take that is imported or moved to a newer core. */
export const BEGIN_TIMEOUT_MS = 10_000
/**
 * Keys of agents that a gate reserves at a time in a shared store. A fork needs consecutive ones.
 */
export const AGENT_KEYS_AT_ONCE = 1_000
/** Pause before a gate looks again which gate runs an agent. */
export const AGENT_REQUEST_LOOK_MS = 100
/**
 * How long a gate waits for another one that runs an agent: longer than a caller may wait for a
 * run.
 */
export const AGENT_REQUEST_MS_MAX = 630_000
/**
 * Calls of agents that a gate remembers to have sent, so that none is sent again if a failover of
 * the shared store loses the step.
 */
export const CALLS_SENT_KEPT_MAX = 10_000
/**
 * Lease renewals after which a gate looks for effects of its agents that an unavailable shared
 * store kept from starting.
 */
export const AGENT_LOOK_BEATS = 5
/** Pause before a result is stored again, if the shared store did not respond. */
export const RESULT_RETRY_MS = 1_000
/** How long `run_code` of a client waits for its program, unless the call says `waitMs`. */
export const PROGRAM_WAIT_MS_DEFAULT = 45_000
/** Programs of one client session that run at once. A further one waits behind the first. */
export const PROGRAMS_AT_ONCE_MAX = 8
/** How often the agents of clients' programs are removed whose sessions are over. */
export const PROGRAM_SWEEP_MS = 600_000
