// What looking through one message towards a client may cost, by name and unit. A message that needs
// more counts as having what is looked for.

/** Places in one run of base64 or hex where a token of the gate's could begin; a run with more is removed. */
export const RUN_BEGINNINGS_MAX = 500
