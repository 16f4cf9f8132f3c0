// Limits of what is shown to people about tools, by name and unit.

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
