// Limits of one session, by name and unit: what it knows of its servers, and what searching a message
// to its client may cost.

/**
 * Places in one message where one of the gate's tokens could begin in base64 or hex. Runs with
 * further ones are removed from the message.
 */
export const TOKEN_BEGINNINGS_MAX = 500

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

/** Tasks of one session that its client can ask about; the least recently used is forgotten. */
export const SESSION_TASKS_MAX = 1_000
/** Times that one call lists the tools again, if they change while they are listed. */
export const LIST_TIMES_MAX = 5
/**
 * Tools of one server that a session knows. Further ones are left out of lists and cannot be
 * called.
 */
export const LISTED_TOOLS_MAX = 20_000
/** Length of a definition in a list. A longer one is left out. */
export const DEFINITION_LENGTH_MAX = 131_072
/**
 * Resources named by a server's answers that a session may read although they are not listed; the
 * least recently used is forgotten.
 */
export const HEARD_URIS_MAX = 1_000
/** Nesting of an answer that is searched for such resources. */
export const HEARD_DEPTH_MAX = 8
/** Skills of one server that a session knows. Further ones are left out of lists. */
export const SKILLS_MAX = 1_000
/** Files of one skill, by the specification. A skill with more is left out of lists. */
export const SKILL_FILES_MAX = 512
/** Pages of apps of one server whose last content a session knows; the least recently used is forgotten. */
export const APP_PAGES_MAX = 100
/** Requests of the gate that a client has not answered. Further ones are not sent. */
export const CLIENT_QUESTIONS_MAX = 20
/**
 * Calls of all sessions that may continue after input without being counted again; the least
 * recently used is forgotten.
 */
export const CONTINUATIONS_MAX = 10_000
/** Age from which on the tools of a server are listed again. */
export const LIST_AGE_MS = 600_000
/**
 * Roots of one client that a server may receive, because relative paths are resolved in each. A
 * client with more gets an error.
 */
export const CLIENT_ROOTS_MAX = 32
