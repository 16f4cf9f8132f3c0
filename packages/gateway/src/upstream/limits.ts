// Limits of the connections to servers, by name and unit: processes, HTTP, and the translation between
// protocol generations. A server that meets one is slowed down or ended by itself.

/**
 * Size of one message of a server without `max_message`: handling a larger one may keep other calls waiting for more
 * than 50 ms. A call whose response is larger fails with `UPSTREAM_TOO_LARGE`.
 */
export const UPSTREAM_MESSAGE_BYTES = 4 * 1_048_576
/** The most that `max_message` of a server may be. */
export const UPSTREAM_MESSAGE_BYTES_MAX = 16 * 1_048_576
/**
 * Requests of one connection to a server whose response is still expected; the oldest is forgotten.
 */
export const OPEN_REQUESTS_MAX = 20_000
/**
 * Length of all messages that wait for a server process that does not read. A request that does not
 * fit is refused.
 */
export const STDIN_QUEUE_LENGTH_MAX = 32 * 1_048_576
/** Messages that wait for a server process that does not read. A further request is refused. */
export const STDIN_QUEUE_MESSAGES_MAX = 10_000
/** Length of the messages that are written to a server process at once. */
export const STDIN_WRITE_LENGTH = 1_048_576
/**
 * How long a server process with a full queue may read nothing. Then it counts as stuck and is
 * ended.
 */
export const STDIN_STUCK_MS = 30_000
/**
 * Units of output per second that a server may send beyond one message for each it was sent. A
 * message or stray line costs 1 unit, plus 1 for each `STDOUT_UNIT_BYTES`. Beyond it, the output is
 * read later.
 */
export const STDOUT_UNITS_PER_SECOND = 2_000
/** Bytes of a server's output that cost 1 unit. */
export const STDOUT_UNIT_BYTES = 16_384
/** Messages sent to a server whose responses are read at full speed. */
export const STDOUT_CREDIT_MAX = 10_000
/** Lines of one server process that are read before other work gets its turn. */
export const STDOUT_LINES_PER_TURN = 64
/** Lines of one server that are not messages and are logged, per second; all are counted. */
export const STRAY_LINES_LOGGED_PER_SECOND = 5
/** Lines of a server's stderr that are logged, per second; the rest is counted. */
export const STDERR_LINES_PER_SECOND = 50
/** Bytes of a server's stderr that are read per second. Beyond it the server has to wait. */
export const STDERR_BYTES_PER_SECOND = 4 * 1_048_576
/** Characters of a line of a server's stderr that are logged. */
export const LOGGED_LINE_LENGTH_MAX = 2_000
/** Last lines of a server's stderr that are reported when it ends. */
export const LAST_LINES_MAX = 8
/** Characters of each of the last lines of a server's stderr that are reported when it ends. */
export const LAST_LINE_LENGTH_MAX = 200
/** How long the remaining output of a server process is read after it exited or stopped reading. */
export const EXIT_DRAIN_MS = 500
/** How long a server process may take to exit after its stdin was closed. Then it gets SIGTERM. */
export const STDIN_END_GRACE_MS = 2_000
/** How long a connection to an HTTP server may take. */
export const HTTP_CONNECT_MS_MAX = 10_000
/**
 * How long an HTTP exchange may pass without a byte. Then it is ended; calls have a shorter limit
 * of their own.
 */
export const HTTP_SILENCE_MS_MAX = 3_600_000
/**
 * How long an idle connection to an HTTP server is reused, if the server does not send
 * `Keep-Alive`: a connection that the server closes while a call is under way costs that call its
 * outcome.
 */
export const HTTP_KEEP_ALIVE_MS = 4_000
/**
 * How long an idle connection to an HTTP server is reused, at most, if the server sends
 * `Keep-Alive`.
 */
export const HTTP_KEEP_ALIVE_MS_MAX = 600_000
/** How often connections to HTTP servers are checked for being idle or silent for too long. */
export const HTTP_POOL_LOOK_MS = 1_000
/** Size of the headers of an HTTP server's response. Beyond it the exchange fails. */
export const HTTP_HEADER_BYTES_MAX = 32_768
/** Length of a chunk's size line, or of a line of the trailer. Beyond it the exchange fails. */
export const HTTP_CHUNK_LINE_LENGTH_MAX = 4_096
/** Interim (1xx) responses before the final one. Beyond it the exchange fails. */
export const HTTP_INTERIM_RESPONSES_MAX = 10
/**
 * Connections to one origin for calls, and as many again for streams that stay open. Further
 * requests wait.
 */
export const HTTP_CONNECTIONS_MAX = 256
/** Pause before a request of which no byte was sent is sent again. */
export const HTTP_AGAIN_MS = 100
/** Messages to one HTTP server that are not accepted or answered yet. A further one is refused. */
export const HTTP_OPEN_EXCHANGES_MAX = 1_024
/** Streams of one HTTP server that continue after their response; the oldest is ended. */
export const HTTP_TAILS_MAX = 64
/** Bytes of an HTTP error page that are read for its reason. */
export const HTTP_ERROR_BYTES_MAX = 4_096
/** Characters of an HTTP error page, or of a redirect's address, that are shown. */
export const HTTP_ERROR_SHOWN_LENGTH_MAX = 300
/** Attempts to resume a response whose stream broke. Then the call fails. */
export const HTTP_RESUME_TRIES_MAX = 5
/** Pause before a stream is resumed, if the server does not name one. */
export const HTTP_RESUME_WAIT_MS = 1_000
/** Shortest pause before a stream is resumed. */
export const HTTP_RESUME_WAIT_MS_MIN = 100
/** Longest pause before a stream is resumed. */
export const HTTP_RESUME_WAIT_MS_MAX = 60_000
/**
 * Length of a server's session id. A longer one fails the session with `UPSTREAM_BAD_ANSWER`. Of a
 * longer login challenge (`WWW-Authenticate`) the rest is cut.
 */
export const HTTP_HANDLE_LENGTH_MAX = 1_024
/** How long a server of the HTTP+SSE transport may take to name its endpoint. */
export const HTTP_ENDPOINT_MS_MAX = 10_000
/**
 * Length of the endpoint that a server of the HTTP+SSE transport names. A longer one is refused.
 */
export const HTTP_ENDPOINT_LENGTH_MAX = 4_096
/** How long a JSON response to a subscription, which is an error, may take to arrive completely. */
export const HTTP_LISTEN_JSON_MS_MAX = 5_000
/** How long the DELETE of a session may take. */
export const HTTP_FAREWELL_MS_MAX = 2_000
/**
 * Pause before a call is continued for which the server wants another round without asking for
 * input.
 */
export const INPUT_ROUND_PAUSE_MS = 500
/**
 * How long requests of a server during one call are collected before the client gets them together.
 */
export const INPUT_GATHER_MS = 10
/** Calls of one connection that wait for input from their client. A further one is refused. */
export const INPUT_HELD_MAX = 100
/**
 * Length of the responses that are kept because they arrived before their client returned with
 * input. Beyond it, the client gets `UPSTREAM_TOO_LARGE`.
 */
export const INPUT_HELD_LENGTH_MAX = 16 * 1_048_576
/** How long a server process may take to show which protocol generation it speaks. */
export const GENERATION_PROBE_PROCESS_MS_MAX = 5_000
/** How long an HTTP server may take to show which protocol generation it speaks. */
export const GENERATION_PROBE_HTTP_MS_MAX = 30_000
