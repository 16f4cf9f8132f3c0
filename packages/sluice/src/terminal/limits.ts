// Bounds of the command line, by name and unit: how much it reads from files that a person or an
// agent handed to it.

/** A policy, case or property file: the engine's own bound is lower, this one stops the reading. */
export const TEXT_FILE_BYTES_MAX = 8 * 1_048_576
/** A file of tool definitions; 4,358 real ones take 5 MB. */
export const TOOLS_FILE_BYTES_MAX = 256 * 1_048_576
/** What a gate may answer to a command, and how long it may take: a backup copies everything. */
export const GATE_ANSWER_BYTES_MAX = 64 * 1_048_576
export const GATE_ANSWER_MS_MAX = 600_000
/** How long `sluice login` waits for a person at a browser. */
export const LOGIN_WAIT_MS_MAX = 5 * 60_000
/** What a server may take to list its tools. */
export const SCAN_MS_MAX = 60_000
export const SCAN_BYTES_MAX = 64 * 1_048_576
export const SCAN_PAGES_MAX = 200
/** `sluice scan --brief`, for an agent's context. */
export const BRIEF_CHARS_MAX = 2_000

/** How long a start waits for somebody to type the first PIN, until it goes on without. */
export const FIRST_PIN_MS_MAX = 60_000
