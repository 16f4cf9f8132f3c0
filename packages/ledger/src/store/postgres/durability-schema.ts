// What a shared store does about commits: which are waited for, what replaces records that were dropped, and what
// gates do after a failover that lost some. Part of the migrations in schema.ts.

import { SAFELY } from './function-settings.ts'

/**
 * The admission of a gate: \`admit\` in a transaction that does not wait for the disk, so that the locks of its
 * counters are free while its records are flushed; then a transaction that does wait. The log is flushed in order,
 * so with the second commit the first is as durable as the setting \`synchronous_commit\` promises, on a standby
 * too; a batch that was charged on top of it is later in the log. Nothing is answered before that.
 *
 * Nothing is appended to another chain than the gate knows: after a failover to a standby that was behind, the gate
 * first gives back what is missing.
 */
export const ADMIT_DURABLY = `
  CREATE PROCEDURE sluice.admit_durably(
    my_seq bigint, my_head bytea,
    my_gate text, my_epoch bigint, my_version bigint, my_open_from bigint,
    kinds text, ids text[], bodies bytea, lengths int[],
    keys bytea, windows bigint[],
    charge_counts int[], charge_keys int[], charge_max numeric[], charge_amount numeric[],
    owners bytea, check_counts int[], check_owners int[], check_versions bigint[],
    INOUT at text, INOUT batch bigint, INOUT seq bigint, INOUT head bytea, INOUT misfits text
  ) LANGUAGE plpgsql
  AS $$
  BEGIN
    SET LOCAL synchronous_commit = off;
    PERFORM pg_catalog.pg_advisory_xact_lock_shared(1936487785, 1);
    IF EXISTS (SELECT 1 FROM sluice.gates g WHERE g.gate = my_gate AND g.epoch = my_epoch
        AND NOT (g.seq = my_seq AND g.head = my_head)) THEN
      RAISE EXCEPTION 'the chain of this gate is another one' USING ERRCODE = 'SL004';
    END IF;
    SELECT a.at::text, a.batch, a.seq, a.head, a.misfits
      INTO admit_durably.at, admit_durably.batch, admit_durably.seq, admit_durably.head, admit_durably.misfits
      FROM sluice.admit(my_gate, my_epoch, my_version, my_open_from, kinds, ids, bodies, lengths, keys, windows,
        charge_counts, charge_keys, charge_max, charge_amount, owners, check_counts, check_owners, check_versions) a;
    COMMIT;
    PERFORM pg_catalog.pg_logical_emit_message(true, 'sluice', '');
  END $$;
`

/**
 * Changes rows of \`shared\`. The lock waits for every admission under way and keeps the next ones out: no
 * call is admitted by a state that another gate has already replaced. The gate says the next version, and on which
 * timeline the database is: the first change after a failover leaves out a million versions, so that every change
 * after it has a higher one than those that were lost.
 */
export const CHANGE = `
  CREATE FUNCTION sluice.change_from(
    my_gate text, my_epoch bigint, my_version bigint, my_next bigint, my_timeline text,
    kinds text[], ids bytea[], keys text[], bodies text[], macs bytea[], my_root bytea
  ) RETURNS void LANGUAGE plpgsql
  ${SAFELY}
  AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(1936487785, 1);
    IF NOT EXISTS (SELECT 1 FROM gates g WHERE g.gate = my_gate AND g.epoch = my_epoch) THEN
      RAISE EXCEPTION 'another gate has this name' USING ERRCODE = 'SL002';
    END IF;
    UPDATE control SET version = my_next, root = my_root, timeline = my_timeline
      WHERE version = my_version AND my_timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the shared state has changed' USING ERRCODE = 'SL001';
    END IF;
    INSERT INTO shared SELECT r.kind, r.id, r.key, r.body, my_next, r.mac
      FROM unnest(kinds, ids, keys, bodies, macs) AS r(kind, id, key, body, mac)
      ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, version = excluded.version, mac = excluded.mac;
  END $$;
`

/**
 * After a failover to a standby that was behind: the records and charges that were confirmed to a gate and are
 * lost, given back by that gate. The chain goes on with the same bytes, so signed checkpoints stay true.
 */
export const RESTORE_CHAIN = `
  CREATE FUNCTION sluice.restore_chain(
    my_gate text, my_epoch bigint, from_seq bigint, my_head bytea, my_batch bigint,
    kinds text[], ids text[], bodies bytea[], hashes bytea[],
    charge_keys bytea[], charge_windows bigint[], charge_at timestamptz[], charge_batch bigint[],
    charge_amounts numeric[]
  ) RETURNS void LANGUAGE plpgsql
  ${SAFELY}
  AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(1936487785, 1);
    UPDATE gates g SET seq = from_seq + cardinality(kinds), head = my_head, batch = greatest(g.batch, my_batch)
      WHERE g.gate = my_gate AND g.epoch = my_epoch AND g.seq = from_seq;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'another gate has this name' USING ERRCODE = 'SL002';
    END IF;
    INSERT INTO ledger SELECT my_gate, from_seq + r.n, my_epoch, clock_timestamp(), r.kind, r.id, r.body, r.hash
      FROM unnest(kinds, ids, bodies, hashes) WITH ORDINALITY AS r(kind, id, body, hash, n);
    INSERT INTO counter (key) SELECT DISTINCT unnest(charge_keys) ORDER BY 1 ON CONFLICT DO NOTHING;
    PERFORM 1 FROM (SELECT c.key FROM counter c WHERE c.key = ANY(charge_keys) ORDER BY c.key FOR UPDATE) locked;
    WITH lost AS (
      SELECT r.key, r.at, r.batch, sum(r.amount) AS amount, max(r.ms) AS ms
      FROM unnest(charge_keys, charge_windows, charge_at, charge_batch, charge_amounts)
        AS r(key, ms, at, batch, amount) GROUP BY r.key, r.at, r.batch
    ), charged AS (
      INSERT INTO charge SELECT l.key, l.at, my_gate, l.batch, l.amount FROM lost l
      ON CONFLICT DO NOTHING RETURNING charge.key, charge.at, charge.batch
    ), sums AS (
      SELECT l.key, sum(l.amount) AS amount, max(l.at) AS at, max(l.at + l.ms * interval '1 ms') AS until
      FROM lost l JOIN charged USING (key, at, batch) GROUP BY l.key
    )
    UPDATE counter c SET sum = c.sum + s.amount, last_at = greatest(c.last_at, s.at),
        until = greatest(nullif(c.until, 'infinity'), s.until)
      FROM sums s WHERE c.key = s.key;
  END $$;
`
