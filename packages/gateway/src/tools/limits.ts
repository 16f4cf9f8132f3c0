// Limits of stored, accepted and refused tool definitions, and of what people are shown of them, by
// name and unit.

/** How long a tool that appeared on a known server is marked as new. */
export const NEW_TOOL_MS = 7 * 86_400_000
/** Tools that are marked as new. Further ones are not marked. */
export const NEW_TOOLS_MAX = 10_000
/** New tools that one event lists. */
export const NEW_TOOLS_SHOWN_MAX = 50
/** Suspicious places of one definition that the console shows. */
export const DANGERS_SHOWN_MAX = 20
/** Characters of text that the console shows of one suspicious place. */
export const DANGER_LENGTH_MAX = 300

/** Tool definitions that are stored. Further ones are not. */
export const KEPT_TOOLS_MAX = 20_000
/** Length of a tool definition that is stored. A longer one is not. */
export const KEPT_TOOL_LENGTH_MAX = 65_536
/** How long new tool definitions are collected before they are stored. */
export const KEEP_TOOLS_EVERY_MS = 1_000
/** Tool definitions that are stored in one transaction: a few milliseconds. */
export const KEPT_TOOLS_PER_TURN = 100
/**
 * Accepted definitions of all servers, beyond which a new one waits for a person; and definitions
 * that wait, beyond which they wait without being listed.
 */
export const PINS_MAX = 50_000
/** Accepted definitions of one server. A further new one waits for a person. */
export const PINS_OF_SERVER_MAX = 20_000
/** Definitions that a person accepts or refuses at once that are stored in one transaction. */
export const DECIDED_PINS_PER_TURN = 50
/** Changes of a definition that a caller is shown. */
export const PENDING_CHANGES_SHOWN_MAX = 5
/** How long after the first tool of a server others still belong to its first list. */
export const FIRST_LIST_MS = 60_000
/** Refused definitions that are remembered; the least recently used is dropped. */
export const REFUSALS_MAX = 10_000
