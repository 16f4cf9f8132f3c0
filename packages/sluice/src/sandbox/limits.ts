// Limits of the sandbox, by name and unit. A guest that exceeds one is stopped and its instance
// discarded; the host continues.

/** QuickJS heap limit of a guest. Exceeding it is an exception inside the guest. */
export const GUEST_HEAP_BYTES_MAX = 48 * 1_048_576
/** In the module's memory section: WebAssembly itself grants no further page. */
export const GUEST_MEMORY_PAGES_MAX = 1_024
export const PAGE_BYTES = 65_536
/** The C stack of the module; QuickJS limits its recursion by the first. */
export const GUEST_STACK_BYTES_MAX = 262_144
/** What is cleared of the stack before a call: the bound above plus leaf frames. */
export const STACK_SCRUB_BYTES = 327_680
/** A text or a byte array that a guest returns. */
export const ANSWER_BYTES_MAX = 32 * 1_048_576
/** Microtasks run after one call. */
export const JOBS_MAX = 1_000_000
/** Idle instances that are kept for reuse. */
export const POOL_INSTANCES_MAX = 8
/** An instance whose memory has grown beyond this is not reused. */
export const POOL_INSTANCE_BYTES_MAX = 4 * 1_048_576
/** Counted polls of the interrupt handler; one is about 10,000 steps of a loop, 0.1 to 3 ms. */
export const STEP_POLLS_MAX = 1_000
/** Wall time of one call into an agent's core. */
export const STEP_TIMEOUT_MS = 1_000
/**
 * Added to twice the limit of a call before the watchdog ends its thread: a thread that is starved
 * of CPU is not hung.
 */
export const WATCHDOG_GRACE_MS = 2_000
/** How often the watchdog checks a thread. */
export const WATCHDOG_INTERVAL_MS = 50
/**
 * How long a thread that has answered waits for the next request only, and how long in total before
 * its event loop runs again.
 */
export const AWAKE_PAUSE_MS = 20
export const AWAKE_MS_MAX = 500
/** Young-generation heap of a thread. */
export const THREAD_YOUNG_MEGABYTES = 12
/** Consecutive threads that may end while idle before no other is started. */
export const THREAD_FAILURES_MAX = 5
/** Ranges of a delta that is read from disk. */
export const DELTA_RANGES_MAX = 1_000_000
/**
 * How much lower the priority of code threads is than that of the gate's thread, as `nice` counts.
 */
export const PROGRAM_NICENESS = 5

/**
 * Output of a program in one piece, in UTF-16 code units; a text of escapes is six times its
 * length.
 */
export const PROGRAM_OUTPUT_LENGTH_MAX = 4 * 1_048_576
/** Of that, its calls: how many, their inputs together, and the values in them. */
export const PROGRAM_CALLS_MAX = 1_000
export const PROGRAM_CALLS_LENGTH_MAX = 1_200_000
export const PROGRAM_CALLS_VALUES_MAX = 20_000
export const PROGRAM_NAME_LENGTH_MAX = 2_048
/** 200,000 characters, each as an escape. */
export const PROGRAM_RESULT_LENGTH_MAX = 1_300_000
export const PROGRAM_LOGS_LENGTH_MAX = 70_000
export const PROGRAM_ERROR_LENGTH_MAX = 10_000
/** Files it wrote, as passed to the agent, whose own limits are narrower. */
export const PROGRAM_FILES_MAX = 2_000
export const PROGRAM_FILES_BYTES_MAX = 16 * 1_048_576
/** Of an error that a guest threw, as it is shown. */
export const THROWN_LENGTH_MAX = 2_000
