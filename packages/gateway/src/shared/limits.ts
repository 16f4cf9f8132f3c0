// Limits of the gate that several modules use, by name and unit. What exceeds one gets an error that
// names it. Those of a single module are in the limits.ts of that module.

// Restarts of servers.

/** First pause before a server that ended is started again; it doubles with each further one. */
export const RESTART_FIRST_MS = 1_000
/** Longest pause before a server that ended is started again. */
export const RESTART_LAST_MS = 60_000
/** How long a server must be up for its next end to count as the first. */
export const RESTART_HEALTHY_MS = 60_000

// Clients.

/**
 * Connections of all clients, each of which takes a file descriptor that the ledger needs too.
 * Beyond it, the connection that was silent for the longest is closed.
 */
export const CLIENT_CONNECTIONS_MAX = 2_000
/**
 * Ports that are tried if any will do, until one is free at both addresses of `localhost`. Then the
 * gate does not start.
 */
export const LOCALHOST_PORTS_TRIED_MAX = 20

/** How long an idle connection of a client is kept open. */
export const CLIENT_KEEP_ALIVE_MS = 60_000
/** How long a request may take to arrive completely. Then the connection is closed. */
export const CLIENT_REQUEST_MS_MAX = 60_000
/** How often connections of clients are checked for these two limits. */
export const CLIENT_LOOK_EVERY_MS = 5_000
/** Size of the head of a request that the fast path reads. A larger one is read by `node:http`. */
export const PLAIN_HEAD_BYTES_MAX = 8_192
/** Headers of a request that the fast path reads. A request with more is read by `node:http`. */
export const PLAIN_HEADERS_MAX = 64
/** Size of a request that the fast path reads. A larger one is read by `node:http`. */
export const PLAIN_REQUEST_BYTES_MAX = 65_536
/** Size of the body of a request. A larger one is refused with HTTP status 413. */
export const BODY_BYTES_MAX = 16 * 1_048_576
/** Bytes that wait for a slow client on one stream, beyond which its server is paused. */
export const STREAM_FULL_BYTES = 1_048_576
/** How long a client may read nothing of a full stream. Then the stream is closed. */
export const STREAM_STUCK_MS = 30_000
/**
 * Bytes that wait for a slow client on one stream whose server cannot be paused because others use
 * it too. Beyond it the stream is closed.
 */
export const STREAM_BUFFER_BYTES_MAX = 32 * 1_048_576
/**
 * Responses that clients have not read, over all connections. Beyond it, the connection that was
 * not read for the longest is closed.
 */
export const UNREAD_BYTES_MAX = 128 * 1_048_576
/** Messages that are kept for a client until it opens a stream; the oldest is dropped. */
export const SESSION_EVENTS_MAX = 200
/**
 * Length of all messages that are kept for a client until it opens a stream; the oldest is dropped.
 */
export const SESSION_EVENTS_LENGTH_MAX = 16 * 1_048_576
/** How long a call whose stream broke waits for its client to return. Then it is cancelled. */
export const REPLAY_WAIT_MS = 30_000
/**
 * How long the events of a stream are kept after its response, for a client that returns for them.
 */
export const REPLAY_KEPT_MS = 120_000
/** How long a client whose stream broke is told to wait before it returns. */
export const REPLAY_RETRY_MS = 1_000
/** Streams of one session whose events are kept; the oldest is dropped. */
export const REPLAY_STREAMS_MAX = 100
/**
 * Events of one stream that are kept; the oldest is dropped. A client that asks for a dropped one
 * gets an error.
 */
export const REPLAY_EVENTS_MAX = 1_000
/** Length of all events that are kept, over all sessions; the oldest is dropped. */
export const REPLAY_LENGTH_MAX = 32 * 1_048_576
/** Open requests of one session. A further one is refused. */
export const SESSION_REQUESTS_MAX = 1_000
/**
 * How long a client of the HTTP+SSE transport may take from opening its stream to `initialize`.
 * Then the session is closed.
 */
export const SSE_INITIALIZE_MS = 30_000
/**
 * Requests of a server that its client has not answered, of one call or session. A further one is
 * refused.
 */
export const SERVER_REQUESTS_MAX = 100
/** Sessions of all clients. Beyond it an idle session is closed, or else the new one is refused. */
export const SESSIONS_MAX = 1_000
/**
 * Ended sessions whose names are remembered, so that nobody continues them; the least recently used
 * is forgotten.
 */
export const SESSIONS_OVER_MAX = 10_000
/**
 * Length of the name of a session that can be continued by another gate; a client sends it with
 * every request. A session whose name would be longer cannot be.
 */
export const SESSION_NAME_LENGTH_MAX = 4_096
/** How long a session may be unused. Then it is closed. */
export const SESSION_IDLE_MS = 30 * 60_000
/** How often an open stream is sent a keep-alive, and sessions are checked for being idle. */
export const STREAM_PULSE_MS = 20_000
/** Pages of a server's list that the gate reads. Tools on further pages are unknown. */
export const LIST_PAGES_MAX = 1_000
/**
 * How long a server may take to respond to a request of the gate itself, such as one page of a
 * list.
 */
export const OWN_QUESTION_MS_MAX = 30_000
/** Length of a list that is filtered at once. A longer one is filtered in slices. */
export const LIST_AT_ONCE_LENGTH_MAX = 8_192
/**
 * Entries of a list, over all pages, that are merged at once. Longer lists are merged in slices.
 */
export const ENTRIES_AT_ONCE_MAX = 100
/**
 * Length of a request or response up to which it is handled at once. A longer one gets a turn of
 * its own.
 */
export const ANSWER_AT_ONCE_LENGTH_MAX = 262_144
/**
 * Length of a response up to which it is inspected for injections and secrets at once. A longer one
 * is inspected in slices; any other longer message (a notification, or a request of the server)
 * counts as a finding.
 */
export const INSPECTED_AT_ONCE_LENGTH_MAX = 32_768
/** Size from which on a message of a server is a large one: such answers are inspected and written one at a time. */
export const LARGE_MESSAGE_BYTES_MIN = 1_048_576
/** Large messages of all servers that are read and not handled yet. The readers of further ones wait. */
export const LARGE_MESSAGES_MAX = 8
/** How long a large message may take to arrive before the reader of another one gets its place. */
export const LARGE_MESSAGE_MS_MAX = 10_000
/**
 * Times that one call is decided again because limits, its approval or what other gates share changed before it was
 * admitted. Then it is refused. With four, a call in a hundred was refused while approvals were given at other gates.
 */
export const ADMIT_TRIES_MAX = 16
/**
 * What a gate that stops keeps of `stop_within` to record what it has ended, and to close its stores. Open calls have the
 * rest of it to finish.
 */
export const STOP_KEPT_MS = 3_000
/** How long pipes without an open call may take to end their side when the gate says that it stops. */
export const STOP_PIPES_MS = 5_000
/** How recently `/readyz` must have been asked for a gate that stops to wait for the next answers of it. */
export const READY_ASKED_MS = 3_000
/** How long a gate with a shared store takes requests after `/readyz` says that it stops. Then it takes no more. */
export const STOP_ANNOUNCED_MS = 10_000
/** Answers of `/readyz` after which a load balancer with two checks, of two answers each, has noticed that the gate stops. */
export const STOP_ANNOUNCED_ANSWERS = 4
/** Time without a request after which a load balancer that has noticed counts as asking no more. */
export const STOP_QUIET_MS = 500
/** How often a gate that stops looks whether a load balancer still asks. */
export const STOP_LOOK_EVERY_MS = 25

/**
 * How long a call may take without a response or progress, unless the server's `timeout` says
 * otherwise. Then it is cancelled.
 */
export const CALL_IDLE_MS_MAX = 300_000
/**
 * How long a call may take in total, whatever progress it makes; also the largest `timeout` of a
 * server. Then it is cancelled.
 */
export const CALL_MS_MAX = 3_600_000
/** How often open calls are checked for their timeouts. */
export const CALL_LOOK_EVERY_MS = 500

// Operation.

/**
 * Lines per second that are logged because of messages of one session with one server that do not
 * pass, such as a response that nobody asked for. Further ones are counted.
 */
export const MESSAGE_LOG_LINES_PER_SECOND = 5
/** How often one outage of the store is logged by the requests that it stops. */
export const OUTAGE_LOG_EVERY_MS = 10_000
/** Characters of such a line. The rest is cut. */
export const LOGGED_MESSAGE_LENGTH_MAX = 500

/** How long one slice of long work takes before other work gets its turn. */
export const SLICE_MS = 8

/** Young generation of the gate's V8 heap. */
export const YOUNG_SPACE_BYTES_MAX = 16 * 1_048_576
/** How often the size of the young generation is checked. */
export const YOUNG_LOOK_EVERY_MS = 250

/** How often policy files are checked for a change. */
export const POLICY_LOOK_EVERY_MS = 500
/**
 * How long after the file system's notification of a change a policy file is read: one write causes
 * several notifications.
 */
export const POLICY_NOTICE_MS = 5
/** How long after a change of the certificate or key both are read: the other file may follow. */
export const TLS_SETTLE_MS = 500
/** Differences that loosen a policy or lock file and are listed. */
export const LOOSENINGS_SHOWN_MAX = 50

/** Length of a client's access token. A longer one is refused. */
export const TOKEN_LENGTH_MAX = 16_384
/** How often grants are checked, to end the sessions of revoked ones. */
export const GRANTS_LOOK_MS = 1_000

// `/mcp`: all servers at once.

/** How long a server of `/mcp` may take to start. */
export const MEMBER_BEGIN_MS_MAX = 60_000
/**
 * How long a session, a list or a call at `/mcp` waits for a server that is starting. Then it
 * continues without it.
 */
export const MEMBER_WAIT_MS_MAX = 20_000
/** Length of the list of one server at `/mcp`, all pages together. Further pages are left out. */
export const MEMBER_LIST_LENGTH_MAX = 16 * 1_048_576
/** Length of one page of a list at `/mcp`; the entry that exceeds it is the last one. */
export const MERGED_PAGE_LENGTH_MAX = 4 * 1_048_576
/** Resource templates of one server that a URI is matched with. Further ones are ignored. */
export const MEMBER_TEMPLATES_MAX = 100
/**
 * Time that must pass before the servers list their resources again because of a resource that
 * nobody listed.
 */
export const RELIST_MS = 1_000
/** Subscriptions of one client of `/mcp`. A further one is refused. */
export const ALL_LISTENS_MAX = 100
/** Length of the instructions that the servers of `/mcp` give for the model. The rest is cut. */
export const INSTRUCTIONS_LENGTH_MAX = 32_768
/** Tokens of an answer of `run_code`, if the policy does not bound its size. The rest is cut. */
export const PROGRAM_ANSWER_TOKENS_MAX = 10_000
/** Tools that one `search_tools` of a tool mode returns. */
export const FOUND_TOOLS_MAX = 50
/** Definitions that one `describe_tools` of a tool mode returns. */
export const DESCRIBED_TOOLS_MAX = 20
/** Servers that the description of `search_tools` names. */
export const NAMED_SERVERS_MAX = 40
/** Tool definitions whose words are cached for searches. Of others they are read again for each search. */
export const INDEXED_TOOLS_CACHED_MAX = 5_000

// Translation between protocol generations.

/** How long tool definitions are cached if the server does not announce changes. */
export const TOOLS_FRESH_MS = 60_000
/** Resources that one subscription may name. A further one is refused. */
export const LISTEN_RESOURCES_MAX = 1_000
/** Rounds of input that a server may ask for during one call. Then the call fails. */
export const INPUT_ROUNDS_MAX = 10
/** How long a call waits for its client to return with input. Then it is cancelled. */
export const INPUT_HELD_MS = 10 * 60_000
/**
 * How long a client may take to answer a server's request that needs neither a model nor a person:
 * `roots/list`, `ping`.
 */
export const CLIENT_ANSWER_QUICK_MS_MAX = 30_000
/**
 * How long a client may take to answer a server's request for which it asks a model or a person.
 */
export const CLIENT_ANSWER_MS_MAX = 10 * 60_000
/** Length of the address of a page that a server asks a person to open. A longer one is refused. */
export const PAGE_URL_LENGTH_MAX = 2_048

/**
 * Steps in the `outputSchema` of a tool that finding the placeholders of one answer may take. Beyond it
 * the answer is withheld.
 */
export const PLACEHOLDER_STEPS_MAX = 50_000

// Agents.

/** How long a tool call of an agent may take. */
export const AGENT_CALL_MS_MAX = 60 * 60_000
/** How long an agent family's session with a server may be unused. Then it is closed. */
export const AGENT_LINK_IDLE_MS = 10 * 60_000
/** Sessions of agent families with servers at once; the oldest is closed. */
export const AGENT_LINKS_MAX = 1_000

// The socket.
/**
 * How long a client behind a pipe that closed its input is kept for the responses to its requests.
 */
export const INPUT_END_ANSWERS_MS = 60_000
/**
 * Size of the first line of a connection to the socket, which says what it is for. A longer one is
 * refused.
 */
export const SOCKET_HELLO_BYTES_MAX = 65_536
/** How long that first line may take to arrive. */
export const SOCKET_HELLO_MS_MAX = 10_000
/** Size of the environment that a client behind a pipe hands over. A larger one is refused. */
export const CLIENT_ENVIRONMENT_BYTES_MAX = 1_048_576
/** How long after its last client a gate that clients started ends. */
export const PIPED_GATE_IDLE_MS = 60_000
/** Records at the end of the ledger that a start compares with the clock. */
export const CLOCK_RECORDS_MAX = 100

// Webhooks that prompt agents.

/** Size of the body of a webhook. A larger one is refused with HTTP status 413. */
export const TRIGGER_BODY_BYTES_MAX = 262_144
/** How far the signed time of a webhook may be from the time of the gate. */
export const TRIGGER_TIME_OFF_S_MAX = 300
/** After how long a sender is told to send a webhook again that could not be taken. */
export const TRIGGER_AGAIN_S = 60
/** Length of an answer whose fields `last(...)` reads. Those of a longer one are unknown. */
export const ANSWER_READ_CHARS_MAX = 1_048_576
