// Every bound of the gate, by name and unit. What meets one of them says so; a server that meets one
// is slowed down or ended by itself, and nobody else notices.

/** What one server may say in one message, in bytes: the wire reader's own bound is the same. */
export const UPSTREAM_MESSAGE_BYTES_MAX = 16 * 1_048_576

/** Requests of one link whose answer is still expected. */
export const OPEN_REQUESTS_MAX = 20_000

// A server's process.

/** Messages waiting for a server that does not read, in UTF-16 code units and in number. A request that
 * does not fit is refused. */
export const STDIN_QUEUE_LENGTH_MAX = 32 * 1_048_576
export const STDIN_QUEUE_MESSAGES_MAX = 10_000
/** What is written to a server at once, in UTF-16 code units; and how long none of it may be read, while
 * no more fits, before the process counts as stuck and is ended. */
export const STDIN_WRITE_LENGTH = 1_048_576
export const STDIN_STUCK_MS = 30_000
/** What a server may say a second beyond one message for each it was sent: a message or a stray line
 * costs 1, and 1 more for each 16 KiB of it. Past that its stdout is read later. */
export const STDOUT_UNITS_PER_SECOND = 2_000
export const STDOUT_UNIT_BYTES = 16_384
/** Messages that were sent and may be answered at full speed. */
export const STDOUT_CREDIT_MAX = 10_000
/** Lines of one server read before other work gets its turn. */
export const STDOUT_LINES_PER_TURN = 64
/** Stray lines that reach the log, a second; all are counted. */
export const STRAY_LINES_LOGGED_PER_SECOND = 5
/** Lines of stderr that reach the log, a second; the rest is counted. */
export const STDERR_LINES_PER_SECOND = 50
/** Bytes of stderr read a second; past that the server waits. */
export const STDERR_BYTES_PER_SECOND = 4 * 1_048_576
export const LOGGED_LINE_LENGTH_MAX = 2_000
/** Lines of stderr kept for the reason a server's end is reported with. */
export const LAST_LINES_MAX = 8
export const LAST_LINE_LENGTH_MAX = 200
/** After a process is gone or deaf: how long what it said before is still read. */
export const EXIT_DRAIN_MS = 500
/** close(): end of stdin, then so long until SIGTERM, then so long until SIGKILL. */
export const STDIN_END_GRACE_MS = 2_000
export const TERM_GRACE_MS = 2_000
/** After SIGKILL: how long a process may take to vanish before it is given up. */
export const KILL_WAIT_MS = 2_000
/** How often the watcher looks whether the gate is still its parent. */
export const PARENT_LOOK_EVERY_MS = 2_000
/** Groups that one file of leftovers may name, and its size. */
export const LEFTOVERS_MAX = 1_000
export const LEFTOVERS_FILE_BYTES_MAX = 1_048_576

// Starting again.

export const RESTART_FIRST_MS = 1_000
export const RESTART_LAST_MS = 60_000
/** Up for so long, and the next end is treated as the first. */
export const RESTART_HEALTHY_MS = 60_000

// A server over HTTP.

export const HTTP_CONNECT_MS_MAX = 10_000
/** No byte for so long ends an exchange; calls have a shorter limit of their own. */
export const HTTP_SILENCE_MS_MAX = 3_600_000
/** Idle connections, if the server does not say how long it keeps them: one that it closes while
 * a call is on its way costs that call its outcome. */
export const HTTP_KEEP_ALIVE_MS = 4_000
/** If the server says so. */
export const HTTP_KEEP_ALIVE_MS_MAX = 600_000
/** How often connections are looked at for being free or silent for too long. */
export const HTTP_POOL_LOOK_MS = 1_000
export const HTTP_HEADER_BYTES_MAX = 32_768
/** The size of a chunk with what else its line says, or a line of the trailer. */
export const HTTP_CHUNK_LINE_LENGTH_MAX = 4_096
/** Responses that only say that another will come. */
export const HTTP_INTERIM_RESPONSES_MAX = 10
/** Connections to one origin for calls; as many again for streams that stay open. */
export const HTTP_CONNECTIONS_MAX = 256
/** Before a request is sent once more that no byte of had left. */
export const HTTP_AGAIN_MS = 100
/** Messages of one link that are not answered or accepted yet. */
export const HTTP_OPEN_EXCHANGES_MAX = 1_024
/** Streams of one link that go on after their answer; the oldest beyond this is ended. */
export const HTTP_TAILS_MAX = 64
/** How much of an error page is read for the reason, and shown of it. */
export const HTTP_ERROR_BYTES_MAX = 4_096
export const HTTP_ERROR_SHOWN_LENGTH_MAX = 300
/** Tries to go on with an answer whose stream broke off, and the wait where the server names none. */
export const HTTP_RESUME_TRIES_MAX = 5
export const HTTP_RESUME_WAIT_MS = 1_000
export const HTTP_RESUME_WAIT_MS_MIN = 100
export const HTTP_RESUME_WAIT_MS_MAX = 60_000
/** A session id or event id that a server may have the gate repeat. */
export const HTTP_HANDLE_LENGTH_MAX = 1_024
/** How long the old transport may take to name its endpoint. */
export const HTTP_ENDPOINT_MS_MAX = 10_000
/** The endpoint that it names: it is in the head of every request. */
export const HTTP_ENDPOINT_LENGTH_MAX = 4_096
/** How long a server may take to say all of an answer in JSON to a subscription, which is a stream of
 * events or an error. */
export const HTTP_LISTEN_JSON_MS_MAX = 5_000
/** How long the DELETE of a session may take. */
export const HTTP_FAREWELL_MS_MAX = 2_000

// A client.

/** Connections at once, over all clients: each takes a file of the process, and without one there is no
 * record either. Past it the connection that was silent for the longest is closed. */
export const CLIENT_CONNECTIONS_MAX = 2_000

/** How long a connection is kept that says nothing. */
export const CLIENT_KEEP_ALIVE_MS = 60_000
/** How long a request may take to come whole, and how often that is looked at. */
export const CLIENT_REQUEST_MS_MAX = 60_000
export const CLIENT_LOOK_EVERY_MS = 5_000
/** What a plain request may be, which the gate reads itself: longer ones are read by `node:http`. Its
 * head; how many headers; all of it. */
export const PLAIN_HEAD_BYTES_MAX = 8_192
export const PLAIN_HEADERS_MAX = 64
export const PLAIN_REQUEST_BYTES_MAX = 65_536
/** The body of one request. */
export const BODY_BYTES_MAX = 16 * 1_048_576
/** What may wait for a client on one stream before its server is paused; how long nothing of that may
 * be read before the stream is ended; and what may wait if the server cannot be paused, since
 * others use it too: one message at its largest, and another. */
export const STREAM_FULL_BYTES = 1_048_576
export const STREAM_STUCK_MS = 30_000
export const STREAM_BUFFER_BYTES_MAX = 32 * 1_048_576
/** Answers that are not read yet, over all connections. */
export const UNREAD_BYTES_MAX = 128 * 1_048_576
/** Messages for a client kept until it opens a stream, and for one that comes back for them; in
 * number, and in UTF-16 code units. */
export const SESSION_EVENTS_MAX = 200
export const SESSION_EVENTS_LENGTH_MAX = 16 * 1_048_576
/** POST streams that a client of a session may come back to. How long a call whose stream broke waits
 * for its client before it is cancelled; how long what was said is kept after the answer; what a client
 * is told to wait before it comes back. */
export const REPLAY_WAIT_MS = 30_000
export const REPLAY_KEPT_MS = 120_000
export const REPLAY_RETRY_MS = 1_000
/** Streams of one session that are kept, events of one stream, and what is kept over all sessions, in
 * UTF-16 code units. */
export const REPLAY_STREAMS_MAX = 100
export const REPLAY_EVENTS_MAX = 1_000
export const REPLAY_LENGTH_MAX = 32 * 1_048_576
export const SESSION_REQUESTS_MAX = 1_000
/** A client of 2024-11-05 that opened a stream and says nothing. */
export const SSE_INITIALIZE_MS = 30_000
/** Tasks of one session that a client may still ask about. */
export const SESSION_TASKS_MAX = 1_000
/** Questions of a server's that its client has not answered. */
export const SERVER_REQUESTS_MAX = 100
export const SESSIONS_MAX = 1_000
/** Sessions remembered as over: their names would else be good to go on with. */
export const SESSIONS_OVER_MAX = 10_000
/** A name that says how to go on, in characters: it comes with every request. */
export const SESSION_NAME_LENGTH_MAX = 4_096
export const SESSION_IDLE_MS = 30 * 60_000
/** Server processes over all sessions, where `processes: { max }` does not say: as many as fit into this
 * share of the memory (of the container, if there is one) at this size each, within these bounds. */
export const PROCESS_MEMORY_SHARE = 0.75
export const PROCESS_BYTES_TYPICAL = 96 * 1_048_576
export const PROCESSES_MAX_MIN = 4
export const PROCESSES_MAX_MAX = 256
/** What the setting may say. */
export const PROCESSES_SETTING_MAX = 1_000
/** A process ends so long after the last request or stream of its session; how long a session
 * waits for one; and the largest value of either setting. */
export const PROCESS_IDLE_MS = 60_000
export const PROCESS_WAIT_MS = 20_000
export const PROCESS_IDLE_SECONDS_MAX = 86_400
export const PROCESS_WAIT_SECONDS_MAX = 600
/** How often an open stream says that it lives, and a session is looked at for being idle: clients
 * and proxies give up after minutes of silence. */
export const STREAM_PULSE_MS = 20_000
/** Pages of a list that the gate reads for itself, and how long each may take. */
export const LIST_PAGES_MAX = 1_000
export const OWN_QUESTION_MS_MAX = 30_000
/** Times that a call has the tools listed, where they change while they are listed. */
export const LIST_TIMES_MAX = 5
/** Tools of one server that a session knows; more are left out of lists, and cannot be called. */
export const LISTED_TOOLS_MAX = 20_000
/** A definition in a list, in UTF-16 code units; a longer one is left out. */
export const DEFINITION_LENGTH_MAX = 131_072
/** A list up to this length, in UTF-16 code units, is looked through at once; a longer one in slices. */
export const LIST_AT_ONCE_LENGTH_MAX = 8_192
/** Entries of all pages of a list up to which they are put together at once. */
export const ENTRIES_AT_ONCE_MAX = 100
/** A body or an answer beyond this length, in UTF-16 code units, is read or passed on in a turn of its
 * own. */
export const ANSWER_AT_ONCE_LENGTH_MAX = 262_144
/** An answer beyond this length, in UTF-16 code units, is looked through for injections and secrets in
 * slices. Any other message beyond it (a notification, a question) counts as found. */
export const INSPECTED_AT_ONCE_LENGTH_MAX = 32_768
/** How often one call is decided because the limits or its approval changed before it was admitted. */
export const ADMIT_TRIES_MAX = 4
/** How long open calls may take to finish when the gate stops. */
export const DRAIN_MS = 5_000

/** How long a call may take without an answer or progress, unless the server's `timeout` says
 * otherwise; however much progress it makes; and how often open calls are looked at. */
export const CALL_IDLE_MS_MAX = 300_000
export const CALL_MS_MAX = 3_600_000
export const CALL_LOOK_EVERY_MS = 500

// Operating it.

/** How long one piece of long work takes before other work gets its turn. */
export const SLICE_MS = 8
/** How often the event loop is looked at, and how late that must be to count as a stall. */
export const STALL_LOOK_EVERY_MS = 20
export const STALL_MS_MIN = 100
/** Stalls that reach the log, a second; all are counted. */
export const STALLS_LOGGED_PER_SECOND = 2

/** Memory for what lives as long as one call, and how often that is looked at. */
export const YOUNG_SPACE_BYTES_MAX = 10 * 1_048_576
export const YOUNG_LOOK_EVERY_MS = 250

/** Servers, principals and agents that are frozen one by one. */
export const FREEZES_MAX = 1_000
export const FREEZE_ID_LENGTH_MAX = 256
export const FREEZE_WHY_LENGTH_MAX = 500
/** A policy document; the reader of documents has a lower bound of its own. */
export const POLICY_FILE_BYTES_MAX = 8 * 1_048_576
/** Definitions of tools that are kept, and the largest of them; a flood of them is not. */
export const KEPT_TOOLS_MAX = 20_000
export const KEPT_TOOL_LENGTH_MAX = 65_536
export const KEEP_TOOLS_EVERY_MS = 1_000
/** Definitions written in one transaction: a few milliseconds. */
export const KEPT_TOOLS_PER_TURN = 100
/** Changed verdicts that a replay lists, and records it names for each. */
export const REPLAY_ROWS_MAX = 1_000
export const REPLAY_EXAMPLES_MAX = 3
/** Series of decisions (server, tool, action, code) that are counted apart. */
export const DECISION_SERIES_MAX = 5_000
/** Spans that wait for the collector, how often they are sent, and how long the last may take. */
export const TELEMETRY_SPANS_MAX = 4_096
export const TELEMETRY_EVERY_MS = 1_000
export const TELEMETRY_END_MS_MAX = 2_000
/** Files of a data directory that a backup copies; more than a gate ever has. */
export const BACKUP_FILES_MAX = 100_000
/** How often the index of queries is thought of, and how many records it then takes in: some
 * milliseconds in which nothing else is done. */
export const INDEX_EVERY_MS = 1_000
export const INDEX_RECORDS_MAX = 500
/** While calls come: so many records a turn, and the pause between; more records than this in between
 * two looks, or as many a second between two turns, and it is left for later. */
export const INDEX_SLICE_RECORDS = 50
export const INDEX_SLICE_MS = 20
export const INDEX_BUSY_RECORDS = 1_000
/** What `ledger: { keep, keep_size }` may say: a day, ten years, 10 MB. */
export const KEEP_MS_MIN = 86_400_000
export const KEEP_SECONDS_MAX = 3_660 * 86_400
export const KEEP_SIZE_BYTES_MIN = 10_000_000
/** Requests for approval that one answer to a command lists, and how long one that waits for news of
 * them may take. */
export const APPROVALS_LISTED_MAX = 500
/** Requests for approval that one page of the API lists. */
export const APPROVALS_PAGE_MAX = 1_000
export const APPROVALS_NEWS_MS = 20_000
/** Counters and sessions are noted after so many records, looked at so often; events of one counter
 * that are noted one by one, and of all together. */
export const STATE_EVERY_RECORDS = 20_000
export const STATE_LOOK_EVERY_MS = 60_000
export const STATE_COUNTER_EVENTS_MAX = 10_000
export const STATE_EVENTS_MAX = 500_000
export const STATE_FILE_BYTES_MAX = 256 * 1_048_576
/** How soon after a start, and how often, records beyond it are dropped. */
export const KEEP_FIRST_LOOK_MS = 30_000
export const KEEP_LOOK_EVERY_MS = 3_600_000
/** How often the policy files are looked at for a change. */
export const POLICY_LOOK_EVERY_MS = 500
/** Policy documents up to this length in all, in UTF-16 code units, are compiled at once when they
 * change; longer ones are read by another thread and compiled in slices. */
export const RELOADED_AT_ONCE_LENGTH_MAX = 8_192
/** Entries of a document that are taken over from that thread in one turn, and how long it may take. */
export const TREE_ENTRIES_PER_TURN = 200
export const READ_TREES_MS_MAX = 60_000
/** How long after the system's notice of a change they are read: a write is several notices. */
export const POLICY_NOTICE_MS = 5
/** After a change of certificate or key: how long the other of the two files may take. */
export const TLS_SETTLE_MS = 500
/** Differences of a policy that are listed; all are counted. */
export const LOOSENINGS_SHOWN_MAX = 50

/** An access token; those of authorisation servers carry claims. */
export const TOKEN_LENGTH_MAX = 16_384
/** How often the grants are looked at while nobody asks, to end the sessions of a revoked one. */
export const GRANTS_LOOK_MS = 1_000

// All servers at once.

/** How long a server may take to begin, and how long anybody waits for it when the session begins, in
 * a list, or with a call: after that the others go on without it. */
export const MEMBER_BEGIN_MS_MAX = 60_000
export const MEMBER_WAIT_MS_MAX = 20_000
/** A list of one server, all pages together, in UTF-16 code units. */
export const MEMBER_LIST_LENGTH_MAX = 16 * 1_048_576
/** A page of the list of all servers: so many, and the entry that passes it. */
export const MERGED_PAGE_LENGTH_MAX = 4 * 1_048_576
/** Templates of one server that a URI is matched against. */
export const MEMBER_TEMPLATES_MAX = 100
/** A resource that nobody listed makes the servers list theirs again, no sooner than so long after
 * the last time. */
export const RELIST_MS = 1_000
/** Resources that answers of one server have named in a session where some may be hidden, and how deep
 * an answer is looked through for them. */
export const HEARD_URIS_MAX = 1_000
export const HEARD_DEPTH_MAX = 8
/** Subscriptions of one client of all servers. */
export const ALL_LISTENS_MAX = 100
/** What a server may say for the model to read when a session begins. */
export const INSTRUCTIONS_LENGTH_MAX = 32_768

// Between the generations.

/** How long a definition of a tool is gone by where no server tells of changes. */
export const TOOLS_FRESH_MS = 60_000
/** Resources that one subscription may name. */
export const LISTEN_RESOURCES_MAX = 1_000
/** Rounds in which a server may want to know more for one call, and the pause before one in which it
 * only wants to be asked again. */
export const INPUT_ROUNDS_MAX = 10
export const INPUT_ROUND_PAUSE_MS = 500
/** How long questions of one call are gathered before the client gets them together. */
export const INPUT_GATHER_MS = 10
/** How long a call waits for the client to come back with its answers. */
export const INPUT_HELD_MS = 10 * 60_000
/** Calls of one link that wait so. */
export const INPUT_HELD_MAX = 100
/** What is kept of answers that came before their client was back, in UTF-16 code units. */
export const INPUT_HELD_LENGTH_MAX = 16 * 1_048_576
/** How long after the end of a subscription the next is opened: at first, and at most. */
export const LISTEN_AGAIN_MS = 1_000
export const LISTEN_AGAIN_MS_MAX = 60_000
/** How long a server may take to show its generation: a process, and one over HTTP. */
export const GENERATION_PROBE_PROCESS_MS_MAX = 5_000
export const GENERATION_PROBE_HTTP_MS_MAX = 30_000
/** Questions of the gate's own that a client has not answered; more are not put. */
export const CLIENT_QUESTIONS_MAX = 20
/** How long a client may take to answer what a server asks it: where only the client has to look
 * (`roots/list`, `ping`), and where a model or a person has to. */
export const CLIENT_ANSWER_QUICK_MS_MAX = 30_000
export const CLIENT_ANSWER_MS_MAX = 10 * 60_000
/** The address of a page that a server asks a person to open. */
export const PAGE_URL_LENGTH_MAX = 2_048
/** Calls that may go on without being counted again, over all sessions. */
export const CONTINUATIONS_MAX = 10_000

// Agents.

/** How long an agent's call may take, and how long a family keeps a session it does not use. */
export const AGENT_CALL_MS_MAX = 60 * 60_000
export const AGENT_LINK_IDLE_MS = 10 * 60_000
/** Sessions of agents' families with servers at once. */
export const AGENT_LINKS_MAX = 1_000

// The socket.
/** How long a client behind a pipe that says nothing more is kept for answers to what it asked. */
export const INPUT_END_ANSWERS_MS = 60_000
/** The first line of a connection, which says what it is for; how long it may take; and the environment
 * that a client behind a pipe hands over. */
export const SOCKET_HELLO_BYTES_MAX = 65_536
export const SOCKET_HELLO_MS_MAX = 10_000
export const CLIENT_ENVIRONMENT_BYTES_MAX = 1_048_576
/** A gate that a pipe has started ends so long after its last client. */
export const PIPED_GATE_IDLE_MS = 60_000

/** Definitions accepted or held, of all servers. */
export const PINS_MAX = 50_000
/** Changes of a definition that are shown to a caller. */
export const HELD_CHANGES_SHOWN_MAX = 5
/** A list is asked for again after this long. */
export const LIST_AGE_MS = 600_000
/** What comes this soon after another belongs to the same first list. */
export const FIRST_LIST_MS = 60_000

/** Definitions that people refused, and how much they may say about it. */
export const REFUSALS_MAX = 10_000
export const REFUSAL_LENGTH_MAX = 500

/** What one message may cost to be looked through for the gate's own tokens, in units of some 100 ns: ten
 * characters of a text with escapes, a quarter of an escape. A text beyond is not passed on. */
export const STRIPPED_COST_MAX = 400_000
/** Of one message: places where an encoded token of the gate's could begin with gaps in it, and
 * characters that are read without their gaps to find it; a text beyond is not passed on. */
export const SPACED_TOKENS_MAX = 1_000
export const SPACED_CHARS_MAX = 524_288

/** Roots of one client that a server may receive: relative paths are tried in each. */
export const CLIENT_ROOTS_MAX = 32
