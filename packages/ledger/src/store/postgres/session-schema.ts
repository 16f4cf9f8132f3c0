// The sessions of agents in a shared store: which session a connection belongs to, what each has seen, and
// how many a principal has. `session_owner` is a principal (or a family of agents); its version rises with
// everything that a decision at another gate must know. Part of the migrations in schema.ts.

import { SESSION_TOUCH_MS } from '../limits.ts'
import { SAFELY } from './function-settings.ts'

/** A gate says at most this late that a session is in use: it may live longer, never shorter. */
const SLACK_MS = 3 * SESSION_TOUCH_MS

/**
 * Versions are of one sequence, so that a row that was removed and made again never has an old one.
 * \`gates\` only grows: what a gate knows of the calls of a session is incomplete if there are others, and after a
 * failover (\`timeline\`), since others may have used the session in seconds that were lost. A gate that stores what
 * the session remembers of answers has the mark of STORES_ANSWERS behind its name; one without it sends answers that
 * no other gate can know of. \`takeover\`: sessions of
 * clients that a gate has taken over from one that was gone. \`lease\`: work that only one gate does at a time, with
 * an end if that gate dies.
 */
const TABLES = `
  CREATE SEQUENCE sluice.session_version;
  CREATE TABLE sluice.session_owner (
    owner bytea PRIMARY KEY,
    principal text NOT NULL,
    next int NOT NULL DEFAULT 0,
    saw text[] NOT NULL DEFAULT '{}',
    version bigint NOT NULL DEFAULT nextval('sluice.session_version'),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    keep_ms bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  CREATE TABLE sluice.session (
    owner bytea NOT NULL,
    number int NOT NULL,
    id text NOT NULL,
    keys bytea[] NOT NULL DEFAULT '{}',
    saw text[] NOT NULL DEFAULT '{}',
    gates text[] NOT NULL DEFAULT '{}',
    ended boolean NOT NULL DEFAULT false,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    keep_ms bigint NOT NULL,
    timeline text NOT NULL DEFAULT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    PRIMARY KEY (owner, number)
  ) WITH (fillfactor = 50);
  CREATE TABLE sluice.takeover (
    session bytea PRIMARY KEY,
    owner text NOT NULL,
    from_gate text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX takeover_from ON sluice.takeover (from_gate, at);
  CREATE TABLE sluice.lease (
    name bytea PRIMARY KEY,
    gate text NOT NULL,
    until timestamptz NOT NULL
  );
`

/** The session of a new connection, as AgentSessions decides it at a gate of its own. */
const OPEN = `
  CREATE FUNCTION sluice.open_session(
    my_gate text, my_owner bytea, my_principal text, my_key bytea,
    sessions_max int, keys_max int, window_ms bigint, idle_ms bigint
  ) RETURNS TABLE (id text, saw text[], age_ms float8, is_split boolean, is_new boolean,
    version bigint, owner_saw text[]) LANGUAGE plpgsql
  ${SAFELY}
  AS $$
  #variable_conflict use_column
  DECLARE
    t timestamptz;
    live timestamptz;
    o session_owner;
    s session;
    has_session boolean;
    has_begun boolean := false;
    kept_ms bigint := greatest(window_ms, idle_ms + ${SLACK_MS});
  BEGIN
    INSERT INTO session_owner (owner, principal) VALUES (my_owner, my_principal) ON CONFLICT DO NOTHING;
    SELECT * INTO o FROM session_owner w WHERE w.owner = my_owner FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'a principal was removed meanwhile; try again' USING ERRCODE = 'SL003';
    END IF;
    t := clock_timestamp();
    live := t - (idle_ms + ${SLACK_MS}) * interval '1 ms';
    IF o.saw <> '{}' AND o.seen_at < live THEN
      o.saw := '{}';
      o.version := nextval('session_version');
    END IF;
    DELETE FROM session x WHERE x.owner = my_owner AND x.seen_at < t - kept_ms * interval '1 ms';
    SELECT * INTO s FROM session x WHERE x.owner = my_owner AND x.keys @> ARRAY[my_key]
      AND NOT x.ended AND x.seen_at >= live ORDER BY x.number DESC LIMIT 1;
    has_session := FOUND;
    IF NOT has_session AND (SELECT count(*) FROM session x WHERE x.owner = my_owner) >= greatest(1, sessions_max) THEN
      SELECT * INTO s FROM session x WHERE x.owner = my_owner
        ORDER BY (NOT x.ended AND x.seen_at >= live) DESC, x.number DESC LIMIT 1;
      has_session := FOUND;
    END IF;
    IF NOT has_session THEN
      has_begun := true;
      INSERT INTO session (owner, number, id, keep_ms) VALUES (my_owner, o.next,
        my_principal || '#' || o.next || '@' || floor(extract(epoch FROM t) * 1000)::bigint, kept_ms)
        RETURNING * INTO s;
      o.next := o.next + 1;
    END IF;
    IF NOT my_gate = ANY(s.gates) THEN
      IF s.gates <> '{}' THEN o.version := nextval('session_version'); END IF;
      s.gates := s.gates || my_gate;
    END IF;
    s.keys := array_remove(s.keys, my_key) || my_key;
    s.keys := s.keys[greatest(1, cardinality(s.keys) - keys_max + 1):];
    UPDATE session x SET keys = s.keys, gates = s.gates, ended = false, seen_at = t, keep_ms = kept_ms
      WHERE x.owner = my_owner AND x.number = s.number;
    UPDATE session_owner w SET next = o.next, saw = o.saw, version = o.version, seen_at = t,
      keep_ms = greatest(w.keep_ms, kept_ms) WHERE w.owner = my_owner;
    RETURN QUERY SELECT s.id, s.saw, (extract(epoch FROM t - s.started_at) * 1000)::float8,
      cardinality(s.gates) > 1, has_begun, o.version, o.saw;
  END $$;
`

/**
 * Labels that a session has seen, before anybody reads what brought them. \`labelled\` is the principal whose
 * labels they are too. Returns the versions of both; nothing if the session is over.
 */
const SEE = `
  CREATE FUNCTION sluice.see_labels(
    my_owner bytea, my_number int, labelled bytea, my_principal text, kept_ms bigint, labels text[]
  )
  RETURNS TABLE (owner bytea, version bigint) LANGUAGE plpgsql
  ${SAFELY}
  AS $$
  #variable_conflict use_column
  BEGIN
    INSERT INTO session_owner (owner, principal, keep_ms) VALUES (labelled, my_principal, kept_ms)
      ON CONFLICT DO NOTHING;
    PERFORM 1 FROM (SELECT 1 FROM session_owner w WHERE w.owner IN (my_owner, labelled)
      ORDER BY w.owner FOR UPDATE) locked;
    UPDATE session x SET seen_at = clock_timestamp(),
        saw = ARRAY(SELECT DISTINCT unnest(x.saw || labels) ORDER BY 1)
      WHERE x.owner = my_owner AND x.number = my_number AND NOT x.ended;
    IF NOT FOUND THEN RETURN; END IF;
    UPDATE session_owner w SET version = nextval('session_version'), seen_at = clock_timestamp(),
        saw = CASE WHEN w.owner = labelled
          THEN ARRAY(SELECT DISTINCT unnest(w.saw || labels) ORDER BY 1) ELSE w.saw END
      WHERE w.owner IN (my_owner, labelled);
    RETURN QUERY SELECT w.owner, w.version FROM session_owner w WHERE w.owner IN (my_owner, labelled);
  END $$;
`

/** Says that sessions are in use. Returns the versions of their principals. */
const TOUCH = `
  CREATE FUNCTION sluice.touch_sessions(owners bytea[], numbers int[])
  RETURNS TABLE (owner bytea, version bigint) LANGUAGE sql
  ${SAFELY}
  AS $$
    WITH mine AS (SELECT DISTINCT o.owner FROM unnest(owners) AS o(owner)),
    locked AS (SELECT w.owner FROM session_owner w JOIN mine USING (owner) ORDER BY w.owner FOR UPDATE OF w),
    used AS (
      UPDATE session x SET seen_at = clock_timestamp() FROM unnest(owners, numbers) AS u(owner, number)
      WHERE x.owner = u.owner AND x.number = u.number AND x.owner IN (SELECT l.owner FROM locked l)
    )
    UPDATE session_owner w SET seen_at = clock_timestamp() FROM locked l WHERE w.owner = l.owner
    RETURNING w.owner, w.version;
  $$;
`

export const SESSIONS = TABLES + OPEN + SEE + TOUCH

/** Behind the name of a gate in \`session.gates\`. No name has it. */
export const STORES_ANSWERS = '+'

/**
 * What sessions remember of answers, each row an encrypted addition. \`writer\` is one run of a gate. A session that
 * one gate uses raises no version: another gate reads all of it when it opens the session. \`throughs\`: the row is
 * all that the writer remembers, and replaces those up to this one; -1 replaces none.
 */
export const SESSION_ANSWERS = `
  CREATE TABLE sluice.session_answers (
    owner bytea NOT NULL,
    number int NOT NULL,
    seq bigint NOT NULL DEFAULT nextval('sluice.session_version'),
    writer text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (owner, number, seq),
    FOREIGN KEY (owner, number) REFERENCES sluice.session ON DELETE CASCADE
  );
  ALTER TABLE sluice.session_answers ALTER body SET STORAGE EXTERNAL;
  CREATE FUNCTION sluice.add_answers(
    my_writer text, owners bytea[], numbers int[], bodies bytea[], throughs bigint[]
  ) RETURNS TABLE (owner bytea, number int, is_raised boolean) LANGUAGE plpgsql
  ${SAFELY}
  AS $$
  #variable_conflict use_column
  BEGIN
    PERFORM 1 FROM (SELECT 1 FROM session_owner w WHERE w.owner = ANY(owners) ORDER BY w.owner FOR UPDATE) locked;
    DELETE FROM session_answers a USING unnest(owners, numbers, throughs) AS u(owner, number, through)
      WHERE a.owner = u.owner AND a.number = u.number AND u.through >= 0
        AND (a.seq <= u.through OR a.writer = my_writer);
    INSERT INTO session_answers (owner, number, writer, body)
      SELECT u.owner, u.number, my_writer, u.body
      FROM unnest(owners, numbers, bodies) WITH ORDINALITY AS u(owner, number, body, place)
      JOIN session x ON x.owner = u.owner AND x.number = u.number AND NOT x.ended ORDER BY u.place;
    UPDATE session_owner w SET version = nextval('session_version') WHERE w.owner IN (
      SELECT x.owner FROM unnest(owners, numbers) AS u(owner, number)
      JOIN session x ON x.owner = u.owner AND x.number = u.number WHERE cardinality(x.gates) > 1);
    RETURN QUERY SELECT DISTINCT x.owner, x.number, cardinality(x.gates) > 1
      FROM unnest(owners, numbers) AS u(owner, number)
      JOIN session x ON x.owner = u.owner AND x.number = u.number AND NOT x.ended;
  END $$;
`
