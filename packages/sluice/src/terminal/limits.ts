// Limits of the command line, by name and unit: how much it reads from files that a user or an
// agent passes to it.

/** A policy, case or property file: the engine's own bound is lower, this one stops the reading. */
export const TEXT_FILE_BYTES_MAX = 8 * 1_048_576
/** A file of tool definitions; 4,358 real ones take 5 MB. */
export const TOOLS_FILE_BYTES_MAX = 256 * 1_048_576
/** A file of recorded sessions, and the calls of one session in it. */
export const TRACE_FILE_BYTES_MAX = 256 * 1_048_576
export const TRACE_STEPS_MAX = 10_000
/** The size of a gate's response to a command, and its timeout: a backup copies everything. */
export const GATE_ANSWER_BYTES_MAX = 64 * 1_048_576
export const GATE_ANSWER_MS_MAX = 600_000
/** How long `sluice login` waits for a user at a browser. */
export const LOGIN_WAIT_MS_MAX = 5 * 60_000
/** What a server may take to list its tools; one that is started may have to be downloaded first. */
export const SCAN_MS_MAX = 60_000
export const SCAN_PROCESS_MS_MAX = 180_000
/** How long a server that was asked for its tools may take to end before it is killed: npm undoes an installation that
 * it cannot finish. */
export const SCAN_END_MS_MAX = 5_000
export const SCAN_BYTES_MAX = 64 * 1_048_576
export const SCAN_PAGES_MAX = 200
/** Servers that are asked for their tools at the same time. */
export const ASKED_AT_ONCE_MAX = 6
/** `sluice scan --brief`, for an agent's context. */
export const BRIEF_CHARS_MAX = 2_000

/** A pipe, or a list of tools, whose server says nothing for this long tells on stderr what it waits for. */
export const WAIT_SHOWN_AFTER_MS = 5_000
/** A longer log of a gate that clients started is put aside before the next gate writes to it. */
export const GATE_LOG_BYTES_MAX = 8 * 1_048_576
/** The end of the log that `sluice logs` reads. */
export const LOG_TAIL_BYTES_MAX = 4 * 1_048_576
/** `sluice doctor` fails if the disk of the data directory has less than this. */
export const DOCTOR_FREE_BYTES_MIN = 64 * 1_048_576
/** How long a gate may take to answer open calls and end. */
export const GATE_STOP_MS_MAX = 60_000

/** How often a new PIN may be typed wrongly before the command ends. */
export const PIN_TRIES_MAX = 3
/** How long a start waits for the first PIN to be typed before it continues without. */
export const FIRST_PIN_MS_MAX = 60_000
