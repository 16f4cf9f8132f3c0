// What looking through one message towards a client may cost, by name and unit. A message that needs
// more counts as having what is looked for.

/** Places in one run of base64 or hex where a token of the gate's could begin; a run with more is removed. */
export const RUN_BEGINNINGS_MAX = 500

/** Calls of one session with one server that ended without an answer, by name, whose labels a later message brings; past that, whatever the server says beside answers brings the labels of all its tools. */
export const ABANDONED_CALLS_MAX = 16
