// Limits of the sandbox, by name and unit. A guest that exceeds one is stopped and its instance
// discarded; the host continues.

/** QuickJS heap of a guest. Exceeding it is an exception inside the guest. */
export const GUEST_HEAP_BYTES_MAX = 48 * 1_048_576
/** WebAssembly pages of a guest's memory. WebAssembly itself grants no further one. */
export const GUEST_MEMORY_PAGES_MAX = 1_024
/** Size of a WebAssembly page. */
export const PAGE_BYTES = 65_536
/** Stack of a guest. Deeper recursion is an exception inside the guest. */
export const GUEST_STACK_BYTES_MAX = 262_144
/** Part of the C stack that is cleared before a call: `GUEST_STACK_BYTES_MAX` and leaf frames. */
export const STACK_SCRUB_BYTES = 327_680
/** Size of a text or byte array that a guest returns. A larger one fails the call. */
export const ANSWER_BYTES_MAX = 32 * 1_048_576
/** Microtasks that are run after one call into a guest. Beyond it the call fails. */
export const JOBS_MAX = 1_000_000
/** Idle instances that are kept for reuse; the oldest is dropped. */
export const POOL_INSTANCES_MAX = 8
/** Memory of an instance up to which it is reused. */
export const POOL_INSTANCE_BYTES_MAX = 4 * 1_048_576
/**
 * Polls of the interrupt handler in one call into an agent's core; one is about 10,000 steps of a
 * loop, 0.1 to 3 ms. Beyond it the call fails.
 */
export const STEP_POLLS_MAX = 1_000
/** Processor time of one call into an agent's core; the watchdog enforces it. Beyond it the call fails. */
export const STEP_TIMEOUT_MS = 1_000
/** Processor time added to twice the timeout of a call into an agent's core before the watchdog ends its thread. */
export const WATCHDOG_GRACE_MS = 2_000
/**
 * How many times as long as its processor time a call may take before the watchdog ends its thread: a thread that waits
 * for a core is not hung, one that is blocked uses no processor time.
 */
export const WATCHDOG_WALL_FACTOR = 10
/** How often the watchdog checks a thread. */
export const WATCHDOG_INTERVAL_MS = 50
/**
 * How long a thread that has responded blocks for the next request, before its event loop runs
 * again.
 */
export const AWAKE_PAUSE_MS = 20
/** How long a thread may serve one request after another, before its event loop runs again. */
export const AWAKE_MS_MAX = 500
/** Young generation of a thread's V8 heap. */
export const THREAD_YOUNG_MEGABYTES = 12
/** Threads in a row that may end while idle, before no other is started. */
export const THREAD_FAILURES_MAX = 5
/** Ranges of a memory delta that is read from disk. A delta with more counts as damaged. */
export const DELTA_RANGES_MAX = 1_000_000
/** Niceness of code threads, relative to the gate's thread. */
export const PROGRAM_NICENESS = 5

/**
 * Length of one output of a program, in which an escaped character takes six. Beyond it the program
 * fails.
 */
export const PROGRAM_OUTPUT_LENGTH_MAX = 4 * 1_048_576
/** Calls that a program makes at once. Beyond it the program fails. */
export const PROGRAM_CALLS_MAX = 1_000
/**
 * Length of the arguments of all calls that a program makes at once. Beyond it the program fails.
 */
export const PROGRAM_CALLS_LENGTH_MAX = 1_200_000
/**
 * Values in the arguments of all calls that a program makes at once. Beyond it the program fails.
 */
export const PROGRAM_CALLS_VALUES_MAX = 20_000
/** Length of a server, tool or path that a program names. Beyond it the program fails. */
export const PROGRAM_NAME_LENGTH_MAX = 2_048
/**
 * Length of a program's result as JSON: 200,000 characters, each as an escape. Beyond it the
 * program fails.
 */
export const PROGRAM_RESULT_LENGTH_MAX = 1_300_000
/** Length of a program's log. Beyond it the program fails. */
export const PROGRAM_LOGS_LENGTH_MAX = 70_000
/** Length of a program's error. Beyond it the program fails. */
export const PROGRAM_ERROR_LENGTH_MAX = 10_000
/**
 * Files that a program writes, and likewise removes; the agent's own limits are lower. Beyond it
 * the program fails.
 */
export const PROGRAM_FILES_MAX = 2_000
/**
 * Size of all files that a program writes; the agent's own limits are lower. Beyond it the program
 * fails.
 */
export const PROGRAM_FILES_BYTES_MAX = 16 * 1_048_576
/** Characters of an error thrown by a guest that are shown. */
export const THROWN_LENGTH_MAX = 2_000
