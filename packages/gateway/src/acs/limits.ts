// Limits of the Agent Control Standard, by name and unit.

/** How far the timestamp of a request may be from the gate's clock. A request beyond it is refused. */
export const ACS_SKEW_MS = 300_000
/** How long a client has to wait for a decision: longer than any rule may hold a call. */
export const ACS_TIMEOUT_MS = 60_000
/** Length of the name of an agent, a session, a tool or a call in a request. A longer one is refused. */
export const ACS_NAME_LENGTH_MAX = 200
