// Settings that functions in the database share. Part of the migrations in schema.ts.

/** A function finds only what is the gate's, and does not wait for a lock longer than that. */
export const SAFELY = "SET search_path = sluice, pg_temp SET lock_timeout = '800ms'"
