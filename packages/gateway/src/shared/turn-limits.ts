// What one peer may have of the gate's thread before others get their turn, by name and unit. What
// meets one of these waits for its turn, or is refused.

/** Units of one event stream that are read before other work gets its turn; a line costs 1 unit. */
export const STREAM_UNITS_PER_TURN = 512
/** Units that an event of a stream costs beside its lines. */
export const STREAM_UNITS_PER_EVENT = 8
/** Lines of one pipe that are read before other work gets its turn. */
export const CLIENT_LINES_PER_TURN = 64
/** Blank lines in a row from the client behind a pipe. Beyond it the pipe is closed. */
export const CLIENT_BLANK_LINES_MAX = 100_000
/**
 * Steps of matching one URI with resource templates, each a part of a template at a position of the
 * URI. Beyond it the URI matches none.
 */
export const TEMPLATE_STEPS_MAX = 4_000_000

/** Connections of browsers to the page of a gate that clients started. Further ones are refused. */
export const PAGE_CONNECTIONS_MAX = 64
