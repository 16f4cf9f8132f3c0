// Limits of what is shown to people about tools, by name and unit.

/** How long a tool that appeared on a known server is marked as new, how many are, and how many of those
 * that came together an event names. */
export const NEW_TOOL_MS = 7 * 86_400_000
export const NEW_TOOLS_MAX = 10_000
export const NEW_TOOLS_SHOWN_MAX = 50
/** What the console shows of a dangerous definition: places, and characters of text at each. */
export const DANGERS_SHOWN_MAX = 20
export const DANGER_LENGTH_MAX = 300
