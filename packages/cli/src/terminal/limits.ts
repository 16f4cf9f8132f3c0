// Limits of the command line, by name and unit: how much it reads from files that a user or an
// agent passes to it.

/** Size of a policy, case or property file that is read; the policy engine's own limit is lower. */
export const TEXT_FILE_BYTES_MAX = 8 * 1_048_576
/** Size of a file of tool definitions; 4,358 real ones take 5 MB. */
export const TOOLS_FILE_BYTES_MAX = 256 * 1_048_576
/** Size of a file of recorded sessions. */
export const TRACE_FILE_BYTES_MAX = 256 * 1_048_576
/** Calls of one recorded session. A session with more is refused. */
export const TRACE_STEPS_MAX = 10_000
/** Size of a gate's response to a command. Beyond it the connection is closed. */
export const GATE_ANSWER_BYTES_MAX = 64 * 1_048_576
/** How long a gate may take to respond to a command: a backup copies everything. */
export const GATE_ANSWER_MS_MAX = 600_000
/** How long a gate may take to say how it is, for `sluice status`, `doctor` and `policy check`. */
export const GATE_STATUS_MS_MAX = 4_000
/** How long `sluice enforce` waits until a gate enforces the new policy. */
export const GATE_RELOAD_MS_MAX = 60_000
/** How long `sluice login` waits for the user at the browser. */
export const LOGIN_WAIT_MS_MAX = 5 * 60_000
/** How long an HTTP server may take to list its tools. */
export const SCAN_MS_MAX = 60_000
/**
 * How long a server that is started may take to list its tools: it may have to be downloaded first.
 */
export const SCAN_PROCESS_MS_MAX = 180_000
/**
 * How long a server that has listed its tools may take to end before it is killed: npm has to undo
 * an unfinished installation.
 */
export const SCAN_END_MS_MAX = 5_000
/** Size of a server's output while it lists its tools. Beyond it the scan of that server fails. */
export const SCAN_BYTES_MAX = 64 * 1_048_576
/** Pages of a server's list of tools that are read. */
export const SCAN_PAGES_MAX = 200
/** Servers that list their tools concurrently. */
export const ASKED_AT_ONCE_MAX = 6
/** Length of the output of `sluice scan --brief`, for an agent's context. The rest is cut. */
export const BRIEF_CHARS_MAX = 2_000

/** Time without a response from a server, after which a pipe or a scan prints what it waits for. */
export const WAIT_SHOWN_AFTER_MS = 5_000
/** First pause before a pipe connects again to a gate that is gone; each is twice the one before. */
export const RECONNECT_MS_MIN = 25
/** Longest pause before a pipe connects again to a gate that is gone. */
export const RECONNECT_PAUSE_MS_MAX = 1_000
/** How long a client waits for another program to start a gate again before its pipe starts one. */
export const RESTART_AFTER_MS = 1_000
/** How long a client waits for a gate again. Then its pipe ends with the reason. */
export const RECONNECT_MS_MAX = 60_000
/** How often a pipe reads the number of the last record, from which on it would look for open calls. */
export const LEDGER_MARK_MS = 10_000
/** Size from which on the log of a gate that clients started is rotated at the next start. */
export const GATE_LOG_BYTES_MAX = 8 * 1_048_576
/** End of the log that `sluice logs` reads. */
export const LOG_TAIL_BYTES_MAX = 4 * 1_048_576
/** Last lines of the log that `sluice support-bundle` takes. */
export const SUPPORT_LOG_LINES = 500
/** Free disk space of the data directory below which `sluice doctor` fails. */
export const DOCTOR_FREE_BYTES_MIN = 64 * 1_048_576
/** How long `sluice stop` waits for a gate to answer open calls and end. */
export const GATE_STOP_MS_MAX = 330_000

/** Times that a new PIN may be mistyped before the command ends. */
export const PIN_TRIES_MAX = 3
/** How long a start waits for the first PIN before it continues without one. */
export const FIRST_PIN_MS_MAX = 60_000
