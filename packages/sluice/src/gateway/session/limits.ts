// What looking through one message towards a client may cost, by name and unit. A message that needs
// more counts as having what is looked for.

/**
 * Places in one run of base64 or hex where one of the gate's tokens could begin. A run with more is
 * removed from the message.
 */
export const RUN_BEGINNINGS_MAX = 500

/**
 * Calls of one session to one server that ended without an answer and whose labels later messages
 * of the server still carry. Beyond it, such messages carry the labels of every call.
 */
export const ABANDONED_CALLS_MAX = 16
/** Length of a text that may contain one of the gate's tokens. A longer one is not passed on. */
export const STRIPPED_TEXT_LENGTH_MAX = 6_291_456
/**
 * Length of one client's messages that wait to be searched for the gate's tokens. Beyond it, a
 * message is searched at once, or the connection is closed if the message would have to wait for
 * another.
 */
export const STRIP_WAITING_LENGTH_MAX = 67_108_864
/** Characters of a long text that are searched in one step: about 2 ms. */
export const STEP_CHARS = 131_072
/** How long labels that no call brought are collected before they are recorded. */
export const LABELS_RECORDED_MS = 1_000

/** Tools of a server that are compared with a denied one to suggest an alternative. */
export const ADVICE_TOOLS_MAX = 500
/** Names that the advice of a refusal lists. */
export const ADVICE_NAMES_MAX = 3
