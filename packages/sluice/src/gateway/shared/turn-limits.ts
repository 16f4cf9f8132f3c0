// What one peer may have of the gate's thread before others get their turn, by name and unit. What
// meets one of these waits for its turn, or is refused.

/** What is read of one stream of events before other work gets its turn: a line costs 1 unit, an event
 * so many more. */
export const STREAM_UNITS_PER_TURN = 512
export const STREAM_UNITS_PER_EVENT = 8
/** Lines of one pipe read before other work gets its turn, and blank lines in a row before it is closed. */
export const CLIENT_LINES_PER_TURN = 64
export const CLIENT_BLANK_LINES_MAX = 100_000
/** Steps of comparing one URI with templates, each a part of a template at a place of the URI: past
 * that it fits none. */
export const TEMPLATE_STEPS_MAX = 4_000_000

/** Connections of browsers to the page of a gate that clients started. */
export const PAGE_CONNECTIONS_MAX = 64
