// Limits of the isolation of servers, by name and unit.

/** How long the trial of bubblewrap at a start may take. Then it counts as failed. */
export const PROBE_MS_MAX = 10_000
