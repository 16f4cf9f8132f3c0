// The tables and functions of a shared store, in the schema `sluice`. `admit` is the admission of calls:
// one statement, one transaction, no client between its steps, so that a stopped gate holds no lock.
// Migrations only add, so that gates of this version and of the next run side by side; what is removed is
// removed by a migration that says which gates it leaves behind. Applied by migrate.ts.

import { AGENT_TABLES, SCHEDULE_TABLES } from './agent-tables.ts'
import { ALERT_TABLES } from './alert-rows.ts'
import { ADMIT_DURABLY, CHANGE, RESTORE_CHAIN } from './durability-schema.ts'
import { SAFELY } from './function-settings.ts'
import { SESSION_ANSWERS, SESSIONS } from './session-schema.ts'
import { STEP_TABLES } from './step-chains.ts'

/**
 * `gates.tables`: the version of the tables that a gate knows.
 * `counter` and `charge`: sliding windows; a charge is one row for each counter and batch. `ledger`: one
 * hash chain for each gate; `ledger_base` has the signed checkpoint that replaces records which were dropped. `shared`: rows that all gates have a copy of (freezes, policies). `control`:
 * its `version` rises with every change of `shared`; `root` authenticates all of them together.
 */
const TABLES = `
  CREATE TABLE sluice.control (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    version bigint NOT NULL DEFAULT 0,
    root bytea NOT NULL DEFAULT '',
    timeline text NOT NULL DEFAULT ''
  );
  INSERT INTO sluice.control DEFAULT VALUES;
  CREATE TABLE sluice.gates (
    gate text PRIMARY KEY,
    epoch bigint NOT NULL,
    owner text NOT NULL DEFAULT '',
    seq bigint NOT NULL DEFAULT 0,
    head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    batch bigint NOT NULL DEFAULT 0,
    open_from bigint NOT NULL DEFAULT 1,
    started_at timestamptz NOT NULL DEFAULT now(),
    beat_at timestamptz NOT NULL DEFAULT now(),
    version bigint NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT '',
    release text NOT NULL DEFAULT '',
    config text NOT NULL DEFAULT '',
    address text NOT NULL DEFAULT '',
    key text NOT NULL DEFAULT '',
    peer text NOT NULL DEFAULT '',
    tables int NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE TABLE sluice.counter (
    key bytea PRIMARY KEY,
    sum numeric NOT NULL DEFAULT 0,
    last_at timestamptz NOT NULL DEFAULT '-infinity',
    until timestamptz NOT NULL DEFAULT 'infinity'
  ) WITH (fillfactor = 50);
  CREATE TABLE sluice.charge (
    key bytea NOT NULL,
    at timestamptz NOT NULL,
    gate text NOT NULL,
    batch bigint NOT NULL,
    amount numeric NOT NULL,
    PRIMARY KEY (key, at, gate, batch)
  );
  CREATE TABLE sluice.ledger (
    gate text NOT NULL,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    id text NOT NULL,
    body bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (gate, seq)
  );
  CREATE TABLE sluice.ledger_base (
    gate text PRIMARY KEY,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    checkpoint text NOT NULL
  );
  CREATE TABLE sluice.shared (
    kind text NOT NULL,
    id bytea NOT NULL,
    key text NOT NULL,
    body text,
    version bigint NOT NULL,
    mac bytea NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX shared_version ON sluice.shared (version);
`

/** The variables of `admit`. */
const ADMIT_VARIABLES = `    n int := length(kinds);
    k int := coalesce(array_length(windows, 1), 0);
    all_keys bytea[] := '{}';
    sums numeric[];
    used numeric[];
    trial numeric[];
    first_charge int := 1;
    offset_ int := 1;
    item_kind text;
    refused int;
    body bytea;
    room text;
    first_seq bigint;
    seqs bigint[] := '{}';
    row_kinds text[] := '{}';
    row_ids text[] := '{}';
    row_bodies bytea[] := '{}';
    hashes bytea[] := '{}';
    told text[] := '{}';
    need numeric;
    wait bigint;
    past record;
    versions bigint[];
    first_check int := 1;
    is_stale boolean;
`

/** Locks the counters of a batch, and frees what has left their windows. */
const ADMIT_COUNTERS = `    IF k > 0 THEN
      FOR i IN 1..k LOOP all_keys[i] := substring(keys FROM (i - 1) * 32 + 1 FOR 32); END LOOP;
      INSERT INTO counter(key) SELECT unnest(all_keys) ORDER BY 1 ON CONFLICT DO NOTHING;
      PERFORM 1 FROM (SELECT c.key FROM counter c WHERE c.key = ANY(all_keys) ORDER BY c.key FOR UPDATE) locked;
      SELECT greatest(clock_timestamp(), max(c.last_at)) INTO admit.at FROM counter c WHERE c.key = ANY(all_keys);
      WITH expired AS (
        DELETE FROM charge c USING unnest(all_keys, windows) AS w(key, ms)
        WHERE c.key = w.key AND c.at <= admit.at - w.ms * interval '1 ms'
        RETURNING c.key, c.amount
      ), freed AS (SELECT e.key, sum(e.amount) AS amount FROM expired e GROUP BY e.key)
      SELECT array_agg(c.sum - coalesce(f.amount, 0) ORDER BY w.place) INTO sums
        FROM unnest(all_keys) WITH ORDINALITY AS w(key, place)
        JOIN counter c ON c.key = w.key LEFT JOIN freed f ON f.key = w.key;
      IF array_length(sums, 1) IS DISTINCT FROM k THEN
        RAISE EXCEPTION 'a counter was removed meanwhile; try again' USING ERRCODE = 'SL003';
      END IF;
      used := array_fill(0::numeric, ARRAY[k]);
    END IF;
`

/** Says what is left of the limits of a call that does not fit, and when it would fit. */
const ADMIT_ROOM = `          room := '';
          FOR j IN first_charge..first_charge + charge_counts[i] - 1 LOOP
            need := sums[charge_keys[j]] + used[charge_keys[j]] + charge_amount[j] - charge_max[j];
            wait := 0;
            IF charge_amount[j] > charge_max[j] THEN
              wait := -1;
            ELSIF need > 0 THEN
              wait := windows[charge_keys[j]];
              FOR past IN SELECT c.at, c.amount FROM charge c
                WHERE c.key = all_keys[charge_keys[j]] ORDER BY c.at LOOP
                need := need - past.amount;
                IF need <= 0 THEN
                  wait := ceil(extract(epoch FROM past.at - admit.at) * 1000) + windows[charge_keys[j]];
                  EXIT;
                END IF;
              END LOOP;
            END IF;
            room := room || CASE WHEN room = '' THEN '' ELSE ',' END || '["'
              || (charge_max[j] - sums[charge_keys[j]] - used[charge_keys[j]])::text || '",' || wait || ']';
          END LOOP;
          told := told || ('[' || i || ',' || refused || ',[' || room || ']]');
`

/** Writes the records and the charges of a batch. */
const ADMIT_WRITE = `    INSERT INTO ledger SELECT my_gate, r.seq, my_epoch, admit.at, r.kind, r.id, r.body, r.hash
      FROM unnest(seqs, row_kinds, row_ids, row_bodies, hashes) AS r(seq, kind, id, body, hash);
    IF admit.seq > first_seq THEN
      UPDATE gates g SET seq = admit.seq, head = admit.head WHERE g.gate = my_gate;
    END IF;
    IF k > 0 THEN
      INSERT INTO charge SELECT w.key, admit.at, my_gate, admit.batch, w.amount
        FROM unnest(all_keys, used) AS w(key, amount) WHERE w.amount <> 0;
      UPDATE counter c SET sum = w.sum + w.used, last_at = admit.at,
          until = admit.at + w.ms * interval '1 ms'
        FROM unnest(all_keys, sums, used, windows) AS w(key, sum, used, ms) WHERE c.key = w.key;
    END IF;
    misfits := '[' || array_to_string(told, ',') || ']';
`

/** Whether calls are decided by rows of a kind, see shared-state.ts. */
const DECIDING = "kind NOT IN ('logins', 'names')"

/**
 * The arguments are flat: \`kinds\` has one letter for each item (i: call, p: probe, r o e: a record as
 * it is), \`charge_*\` has one element for each charge in the order of the items, and names its counter by
 * position. \`bodies\` and \`keys\` are concatenated, because an array of bytes would be sent as text.
 * A record is \`[1,seq\` and its body, so that its bytes are those of an embedded ledger.
 *
 * Order of locks: shared control lock, the gate's own row, counters by key. Nothing is decided before all
 * of them are held; the time is taken after that and never runs backwards for a counter.
 *
 * A call says by which version of its sessions it was decided, and is sent back if another gate has changed them
 * since (position of the call, -1): see session-schema.ts. No call is decided by \`logins\` and \`names\`: rows are
 * stored for every new caller, and would make all gates decide again.
 */
const ADMIT = `
  CREATE OR REPLACE FUNCTION sluice.admit(
    my_gate text, my_epoch bigint, my_version bigint, my_open_from bigint,
    kinds text, ids text[], bodies bytea, lengths int[],
    keys bytea, windows bigint[],
    charge_counts int[], charge_keys int[], charge_max numeric[], charge_amount numeric[],
    owners bytea, check_counts int[], check_owners int[], check_versions bigint[],
    OUT at timestamptz, OUT batch bigint, OUT seq bigint, OUT head bytea, OUT misfits text
  ) LANGUAGE plpgsql
  SET search_path = sluice, pg_temp
  SET lock_timeout = '800ms'
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
  AS $$
  DECLARE
${ADMIT_VARIABLES}  BEGIN
    PERFORM pg_advisory_xact_lock_shared(1936487785, 1);
    IF my_version NOT BETWEEN coalesce((SELECT max(version) FROM shared WHERE ${DECIDING}), 0)
        AND (SELECT version FROM control) AND kinds ~ '[ip]' THEN
      RAISE EXCEPTION 'the shared state has changed' USING ERRCODE = 'SL001';
    END IF;
    UPDATE gates g SET batch = g.batch + 1, open_from = my_open_from
      WHERE g.gate = my_gate AND g.epoch = my_epoch
      RETURNING g.seq, g.head, g.batch INTO admit.seq, admit.head, admit.batch;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'another gate has this name' USING ERRCODE = 'SL002';
    END IF;
    first_seq := admit.seq;
    admit.at := clock_timestamp();
${ADMIT_COUNTERS}    IF length(owners) > 0 THEN
      SELECT array_agg(coalesce(o.version, 0) ORDER BY w.place) INTO versions
        FROM generate_series(0, length(owners) / 32 - 1) AS w(place)
        LEFT JOIN session_owner o ON o.owner = substring(owners FROM w.place * 32 + 1 FOR 32);
    END IF;
    FOR i IN 1..n LOOP
      item_kind := substr(kinds, i, 1);
      body := substring(bodies FROM offset_ FOR lengths[i]);
      offset_ := offset_ + lengths[i];
      refused := -1;
      is_stale := false;
      IF check_counts[i] > 0 THEN
        FOR j IN first_check..first_check + check_counts[i] - 1 LOOP
          is_stale := is_stale OR versions[check_owners[j]] <> check_versions[j];
        END LOOP;
        first_check := first_check + check_counts[i];
        IF is_stale THEN told := told || ('[' || i || ',-1,[]]'); END IF;
      END IF;
      IF is_stale THEN
        first_charge := first_charge + charge_counts[i];
      ELSIF charge_counts[i] > 0 THEN
        trial := used;
        FOR j IN first_charge..first_charge + charge_counts[i] - 1 LOOP
          trial[charge_keys[j]] := trial[charge_keys[j]] + charge_amount[j];
          IF refused < 0 AND sums[charge_keys[j]] + trial[charge_keys[j]] > charge_max[j] THEN
            refused := j - first_charge;
          END IF;
        END LOOP;
        IF refused >= 0 THEN
${ADMIT_ROOM}        ELSIF item_kind = 'i' THEN
          used := trial;
        END IF;
        first_charge := first_charge + charge_counts[i];
      END IF;
      IF refused < 0 AND NOT is_stale AND item_kind <> 'p' THEN
        admit.seq := admit.seq + 1;
        body := convert_to('[1,' || admit.seq, 'UTF8') || body;
        admit.head := sha256(admit.head || int4send(length(body)) || body);
        seqs := seqs || admit.seq;
        row_kinds := row_kinds || item_kind;
        row_ids := row_ids || ids[i];
        row_bodies := row_bodies || body;
        hashes := hashes || admit.head;
      END IF;
    END LOOP;
${ADMIT_WRITE}  END $$;
`

/** Undoes charges of a batch: of one call, by its counters, or of all if \`keys\` is null. */
const GIVE_BACK = `
  CREATE FUNCTION sluice.give_back(
    my_gate text, my_batch bigint, my_at timestamptz, keys bytea, amounts numeric[]
  ) RETURNS void LANGUAGE plpgsql
  ${SAFELY} SET enable_seqscan = off
  AS $$
  DECLARE
    all_keys bytea[] := '{}';
  BEGIN
    FOR i IN 1..coalesce(array_length(amounts, 1), 0) LOOP
      all_keys[i] := substring(keys FROM (i - 1) * 32 + 1 FOR 32);
    END LOOP;
    PERFORM 1 FROM (SELECT c.key FROM counter c WHERE c.key = ANY(all_keys) ORDER BY c.key FOR UPDATE) locked;
    WITH back AS (
      SELECT w.key, sum(w.amount) AS amount FROM unnest(all_keys, amounts) AS w(key, amount) GROUP BY w.key
    ), undone AS (
      UPDATE charge c SET amount = c.amount - b.amount FROM back b
      WHERE c.key = b.key AND c.at = my_at AND c.gate = my_gate AND c.batch = my_batch
        AND c.amount >= b.amount
      RETURNING c.key, b.amount
    )
    UPDATE counter c SET sum = c.sum - u.amount FROM undone u WHERE c.key = u.key;
    DELETE FROM charge c WHERE c.key = ANY(all_keys) AND c.at = my_at AND c.gate = my_gate
      AND c.batch = my_batch AND c.amount = 0;
  END $$;
`

export interface StoreMigration {
  readonly sql: string
  /** It removes or changes something: gates that know a lower version cannot run beside it. It is applied
   * once no such gate is live. */
  readonly oldest?: number
}

/** The version of the tables that the first migration makes. No version before it was released. */
export const FIRST_STORE_VERSION = 13

/** In order; each makes the version after that of the one before. */
export const MIGRATIONS: readonly StoreMigration[] = [
  {
    sql: [TABLES, SESSIONS, ADMIT, ADMIT_DURABLY, GIVE_BACK, CHANGE, RESTORE_CHAIN, AGENT_TABLES]
      .concat(ALERT_TABLES)
      .join(''),
  },
  {
    sql: `CREATE INDEX shared_deciding ON sluice.shared (version) WHERE kind <> 'logins';${ADMIT}`,
  },
  { sql: STEP_TABLES },
  { sql: SCHEDULE_TABLES },
  {
    sql: `DROP INDEX sluice.shared_deciding;
      CREATE INDEX shared_deciding ON sluice.shared (version) WHERE ${DECIDING};${ADMIT}`,
  },
  { sql: SESSION_ANSWERS },
]

/** The version of the tables after the last of these migrations. */
export function getStoreVersion(migrations: readonly StoreMigration[] = MIGRATIONS): number {
  return FIRST_STORE_VERSION + migrations.length - 1
}
