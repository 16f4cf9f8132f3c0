/** What one server may say in one message, in bytes: the wire reader's own bound is the same. */
export declare const UPSTREAM_MESSAGE_BYTES_MAX: number
/** Requests of one link whose answer is still expected. */
export declare const OPEN_REQUESTS_MAX = 20000
/** Messages waiting for a server that does not read, in UTF-16 code units and in number. */
export declare const STDIN_QUEUE_LENGTH_MAX: number
export declare const STDIN_QUEUE_MESSAGES_MAX = 10000
/** What a server may say a second beyond one message for each it was sent: a message or a stray line
 * costs 1, and 1 more for each 16 KiB of it. Past that its stdout is read later. */
export declare const STDOUT_UNITS_PER_SECOND = 2000
export declare const STDOUT_UNIT_BYTES = 16384
/** Messages that were sent and may be answered at full speed. */
export declare const STDOUT_CREDIT_MAX = 10000
/** Lines of one server read before other work gets its turn. */
export declare const STDOUT_LINES_PER_TURN = 64
/** Stray lines that reach the log, a second; all are counted. */
export declare const STRAY_LINES_LOGGED_PER_SECOND = 5
/** Lines of stderr that reach the log, a second; the rest is counted. */
export declare const STDERR_LINES_PER_SECOND = 50
/** Bytes of stderr read a second; past that the server waits. */
export declare const STDERR_BYTES_PER_SECOND: number
export declare const LOGGED_LINE_LENGTH_MAX = 2000
/** Lines of stderr kept for the reason a server's end is reported with. */
export declare const LAST_LINES_MAX = 8
export declare const LAST_LINE_LENGTH_MAX = 200
/** After a process is gone or deaf: how long what it said before is still read. */
export declare const EXIT_DRAIN_MS = 500
/** close(): end of stdin, then so long until SIGTERM, then so long until SIGKILL. */
export declare const STDIN_END_GRACE_MS = 2000
export declare const TERM_GRACE_MS = 2000
/** After SIGKILL: how long a process may take to vanish before it is given up. */
export declare const KILL_WAIT_MS = 2000
/** Groups that one file of leftovers may name, and its size. */
export declare const LEFTOVERS_MAX = 1000
export declare const LEFTOVERS_FILE_BYTES_MAX = 1048576
export declare const RESTART_FIRST_MS = 1000
export declare const RESTART_LAST_MS = 60000
/** Up for so long, and the next end is treated as the first. */
export declare const RESTART_HEALTHY_MS = 60000
export declare const HTTP_CONNECT_MS_MAX = 10000
/** No byte for so long ends an exchange; calls have a shorter limit of their own. */
export declare const HTTP_SILENCE_MS_MAX = 3600000
/** Idle connections, where the server does not say how long it keeps them: one that it closes while
 * a call is on its way costs that call its outcome. */
export declare const HTTP_KEEP_ALIVE_MS = 4000
export declare const HTTP_HEADER_BYTES_MAX = 32768
/** Connections to one origin for calls; as many again for streams that stay open. */
export declare const HTTP_CONNECTIONS_MAX = 256
/** Messages of one link that are not answered or accepted yet. */
export declare const HTTP_OPEN_EXCHANGES_MAX = 1024
/** How much of an error page is read for the reason, and shown of it. */
export declare const HTTP_ERROR_BYTES_MAX = 4096
export declare const HTTP_ERROR_SHOWN_LENGTH_MAX = 300
/** Tries to go on with an answer whose stream broke off, and the wait where the server names none. */
export declare const HTTP_RESUME_TRIES_MAX = 5
export declare const HTTP_RESUME_WAIT_MS = 1000
export declare const HTTP_RESUME_WAIT_MS_MAX = 60000
/** A session id or event id that a server may have the gate repeat. */
export declare const HTTP_HANDLE_LENGTH_MAX = 1024
/** How long the old transport may take to name its endpoint. */
export declare const HTTP_ENDPOINT_MS_MAX = 10000
/** How long the DELETE of a session may take. */
export declare const HTTP_FAREWELL_MS_MAX = 2000
/** The body of one request. */
export declare const BODY_BYTES_MAX: number
/** What waits for a client that does not read its stream. */
export declare const STREAM_BUFFER_BYTES_MAX: number
/** Messages for a client kept until it opens a stream, and for one that comes back for them. */
export declare const SESSION_EVENTS_MAX = 200
export declare const SESSION_REQUESTS_MAX = 1000
export declare const SESSIONS_MAX = 1000
export declare const SESSION_IDLE_MS: number
/** Pages of a list that the gate reads for itself. */
export declare const LIST_PAGES_MAX = 100
/** How long open calls may take to finish when the gate stops. */
export declare const DRAIN_MS = 5000
