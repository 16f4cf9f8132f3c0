// What looking through one message towards a client may cost, by name and unit. A message that needs
// more counts as having what is looked for.

/** Places in one run of base64 or hex where a token of the gate's could begin; a run with more is removed. */
export const RUN_BEGINNINGS_MAX = 500

/** Calls of one session with one server that ended without an answer, by name, whose labels a later message brings; past that, whatever the server says beside answers brings the labels of all its tools. */
export const ABANDONED_CALLS_MAX = 16
/** A text that may spell a token of the gate's, as it is written, in UTF-16 code units; a longer one is not
 * passed on. As much as the strict reader takes of strings with escapes. */
export const STRIPPED_TEXT_LENGTH_MAX = 6_291_456
/** Messages of one client that wait to be looked through, in UTF-16 code units. Beyond it a message is looked
 * through at once, and the link of a client is closed if that message would have to wait for another. */
export const STRIP_WAITING_LENGTH_MAX = 67_108_864
/** Characters of a long text that are searched in one step: some 2 ms. */
export const STEP_CHARS = 131_072
/** Labels that no call brought are recorded so long after they came. */
export const LABELS_RECORDED_MS = 1_000

/** Tools of a server that are compared with a denied one for an alternative, and how many are named. */
export const ADVICE_TOOLS_MAX = 500
export const ADVICE_NAMES_MAX = 3
