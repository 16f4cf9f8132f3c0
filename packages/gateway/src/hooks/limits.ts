// Limits of what a hook may say, by name and unit.

/** Length of the name of a session, a call or a tool in a hook. A longer one is refused. */
export const HOOK_NAME_LENGTH_MAX = 200
