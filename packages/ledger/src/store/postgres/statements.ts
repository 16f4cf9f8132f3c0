// The statements of a gate on its shared store, each with parameters only.

import {
  ADMIT_BATCH_MAX,
  CHAIN_PAGE_ROWS,
  DROPPED_RECORDS_MAX,
  SWEPT_COUNTERS_MAX,
  SWEPT_SESSIONS_MAX,
} from '../limits.ts'
import { getStoreVersion } from './schema.ts'
import { STORES_ANSWERS } from './session-schema.ts'

export const ADMIT = `CALL sluice.admit_durably($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
  $15, $16, $17, $18, $19, $20, NULL, NULL, NULL, NULL, NULL)`
/** Whether what the database has is unknown after this error: ADMIT is two transactions, and it can be cancelled, or
 * run out of memory or disk space, between them. SL004: the chain is another one. */
export function isEffectUnknown(code: string | undefined): boolean {
  return /^(?:53|57|58|XX|SL004)/.test(code ?? '') || refusesWrites(code)
}
/** Whether the state of the database, and not what was sent, is why it does not write: it is read-only (25006), full
 * (53), ending (57), its disk fails (58), or a permission or a table is missing (42). */
export function refusesWrites(code: string | undefined): boolean {
  return /^(?:25006|42|53|57|58|XX)/.test(code ?? '')
}
export const WRITTEN_SINCE = `SELECT seq, id, at::text AS at, kind, body FROM sluice.ledger
  WHERE gate = $1 AND seq > $2 ORDER BY seq LIMIT ${ADMIT_BATCH_MAX + 1}`
export const GIVE_BACK = 'SELECT sluice.give_back($1, $2, $3, $4, $5)'
/** A promoted standby is on another one; so is a database that was restored to a point in time. */
export const TIMELINE = 'substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)'
const HEAD = `epoch, seq, head, batch, open_from, ${TIMELINE} AS timeline`
export const ENTER = `INSERT INTO sluice.gates AS g (gate, epoch, owner, tables)
  VALUES ($1, 1, $2, ${getStoreVersion()}) ON CONFLICT (gate) DO UPDATE
    SET epoch = g.epoch + 1, owner = excluded.owner, tables = excluded.tables, beat_at = now(), started_at = now()
  RETURNING ${HEAD}`
export const RAISE = `UPDATE sluice.gates SET epoch = epoch + 1, beat_at = now()
  WHERE gate = $1 AND owner = $2 RETURNING ${HEAD}`
/** After a failover that lost the registration of this gate: its name was not taken since. $3 is its epoch, and $4
 * the timeline that it knew. */
export const REGISTER_AGAIN = `INSERT INTO sluice.gates AS g (gate, epoch, owner, tables)
  SELECT $1, $3::bigint + 1, $2, ${getStoreVersion()} WHERE ${TIMELINE} <> $4
  ON CONFLICT (gate) DO UPDATE
    SET epoch = excluded.epoch, owner = excluded.owner, tables = excluded.tables, beat_at = now()
    WHERE g.epoch < excluded.epoch - 1
  RETURNING ${HEAD}`
export const RESTORE_CHAIN =
  'SELECT sluice.restore_chain($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)'
export const SHARED_SINCE = `SELECT c.version AS current, c.root, c.timeline AS changed_on, ${TIMELINE} AS timeline, s.kind, s.key, s.body, s.version, s.mac
  FROM sluice.control c LEFT JOIN sluice.shared s ON s.version > $1`
/** Those that changed after a version, see records/names.ts. */
export const STORED_NAMES = `SELECT body, version FROM sluice.shared
  WHERE kind = 'names' AND version > $1 AND body IS NOT NULL`
export const CHANGE = 'SELECT sluice.change_from($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)'
const DATABASE_NOW = 'extract(epoch FROM clock_timestamp()) * 1000 AS now_ms'
export const NOW = `SELECT ${DATABASE_NOW}`
export const BEAT = `UPDATE sluice.gates SET beat_at = now(), version = $2, state = $3, release = $4,
  config = $5, address = $6, key = $7, peer = $9 WHERE gate = $1 AND epoch = $8
  RETURNING ${DATABASE_NOW}, ${TIMELINE} AS timeline`
export const LEAVE = `UPDATE sluice.gates SET state = 'stopped', beat_at = now()
  WHERE gate = $1 AND epoch = $2`
/** Without a sign: a beat from the future was before the clock of the database was set back. */
const SILENT_MS = 'abs(extract(epoch FROM now() - beat_at)) * 1000 AS silent_ms'
export const GATES = `SELECT g.*, ${SILENT_MS},
  c.version AS current FROM sluice.gates g CROSS JOIN sluice.control c ORDER BY g.gate`
/** Without what an auditor may not read. */
export const CHAIN_HEADS = 'SELECT gate, seq, head, key FROM sluice.gates ORDER BY gate'
export const CHAIN_PAGE = `SELECT seq, kind, body, hash
  FROM sluice.ledger WHERE gate = $1 AND seq >= $2 ORDER BY seq LIMIT ${CHAIN_PAGE_ROWS}`
/** With the hash of the record of each gate that the caller has ($2). */
export const FOLLOWED_HEADS = `SELECT g.gate, g.seq, b.seq AS base, b.hash AS base_hash, l.hash
  FROM sluice.gates g LEFT JOIN sluice.ledger_base b ON b.gate = g.gate
  LEFT JOIN unnest($1::text[], $2::bigint[]) AS had(gate, seq) ON had.gate = g.gate
  LEFT JOIN sluice.ledger l ON l.gate = had.gate AND l.seq = had.seq`
/** Of each gate at most $3 records after the one that the caller has, and one more than fit into $4 bytes. */
export const CHAINS_AFTER = `SELECT l.gate, l.seq, l.at, l.body, l.hash
  FROM unnest($1::text[], $2::bigint[]) AS had(gate, seq)
  CROSS JOIN LATERAL (
    SELECT r.*, sum(length(r.body)) OVER (ORDER BY r.seq) - length(r.body) AS before
    FROM (SELECT gate, seq, extract(epoch FROM at)::float8 AS at, body, hash FROM sluice.ledger
      WHERE gate = had.gate AND seq > had.seq ORDER BY seq LIMIT $3) r
  ) l WHERE l.before < $4 ORDER BY l.gate, l.seq`
export const LEDGER_BASES = 'SELECT gate, seq, hash, checkpoint FROM sluice.ledger_base'
/** Only if this gate still has its name, and the record is the one that was signed. */
export const BEGIN_AFTER = `INSERT INTO sluice.ledger_base AS b (gate, seq, hash, checkpoint)
  SELECT l.gate, l.seq, l.hash, $5 FROM sluice.ledger l JOIN sluice.gates g ON g.gate = l.gate
    WHERE l.gate = $1 AND g.epoch = $2 AND l.seq = $3 AND l.hash = $4
  ON CONFLICT (gate) DO UPDATE
    SET seq = excluded.seq, hash = excluded.hash, checkpoint = excluded.checkpoint WHERE b.seq < excluded.seq
  RETURNING seq`
export const DROP_RECORDS = `DELETE FROM sluice.ledger WHERE gate = $1
    AND seq <= (SELECT seq FROM sluice.ledger_base WHERE gate = $1)
    AND seq < (SELECT min(seq) FROM sluice.ledger WHERE gate = $1) + ${DROPPED_RECORDS_MAX}
  RETURNING 1`
/** Counters whose window is over: a call of the same key makes a new one. */
export const SWEEP = `WITH old AS (
    SELECT key FROM sluice.counter WHERE until < now() - interval '1 minute'
    LIMIT ${SWEPT_COUNTERS_MAX} FOR UPDATE SKIP LOCKED
  ), gone AS (DELETE FROM sluice.charge c USING old WHERE c.key = old.key)
  DELETE FROM sluice.counter c USING old WHERE c.key = old.key`
/** Of a row of sluice.session: a gate has used it that does not store what the session remembers of answers. */
const HAS_GAP = `EXISTS (SELECT 1 FROM unnest(s.gates) AS g(gate) WHERE right(g.gate, 1) <> '${STORES_ANSWERS}')`
/** The row of a new session is not visible to this statement: it began on this timeline. */
export const OPEN_SESSION = `SELECT o.*, ${TIMELINE} AS timeline, s.timeline <> ${TIMELINE} AS is_older,
    coalesce(${HAS_GAP}, false) OR right($1::text, 1) <> '${STORES_ANSWERS}' AS has_gap
  FROM sluice.open_session($1, $2, $3, $4, $5, $6, $7, $8) o
    LEFT JOIN sluice.session s ON s.owner = $2 AND s.id = o.id`
export const SEE_LABELS = 'SELECT * FROM sluice.see_labels($1, $2, $3, $4, $5, $6)'
export const TOUCH_SESSIONS = 'SELECT * FROM sluice.touch_sessions($1, $2)'
/** A version that was given before a failover is never given again. */
export const RAISE_VERSIONS = `SELECT setval('sluice.session_version',
  greatest(nextval('sluice.session_version'), $1::bigint) + 1000), ${TIMELINE} AS timeline`
/** Sessions that a gate knows, after a failover that may have lost them. Their labels are stored as ever. They are of
 * no timeline: another gate may have used one in the lost seconds. */
export const RESTORE_SESSIONS = `WITH known AS (
    SELECT decode(r.owner, 'hex') AS owner, r.principal, r.number, r.id, r.keep_ms, $2::text AS gate,
      ARRAY(SELECT decode(key, 'hex') FROM jsonb_array_elements_text(r.keys) AS key) AS keys
    FROM jsonb_to_recordset($1::jsonb)
      AS r(owner text, principal text, number int, id text, keep_ms bigint, keys jsonb)
  ), owners AS (
    INSERT INTO sluice.session_owner AS o (owner, principal, next, keep_ms)
    SELECT owner, min(principal), max(number) + 1, max(keep_ms) FROM known GROUP BY owner ORDER BY owner
    ON CONFLICT (owner) DO UPDATE SET next = greatest(o.next, excluded.next), seen_at = clock_timestamp(),
      keep_ms = greatest(o.keep_ms, excluded.keep_ms), version = nextval('sluice.session_version')
  )
  INSERT INTO sluice.session AS s (owner, number, id, keep_ms, gates, keys, timeline)
  SELECT owner, number, id, keep_ms, ARRAY[gate], keys, '' FROM known ORDER BY owner, number
  ON CONFLICT (owner, number) DO UPDATE SET gates = ARRAY(SELECT DISTINCT unnest(s.gates || excluded.gates)),
    keys = ARRAY(SELECT DISTINCT unnest(s.keys || excluded.keys))`
/** Nothing happened in it, and no other gate has it. */
export const FORGET_SESSION = `DELETE FROM sluice.session
  WHERE owner = $1 AND number = $2 AND gates <@ ARRAY[$3::text, $3::text || '${STORES_ANSWERS}']`
export const END_SESSION = `WITH changed AS (
    UPDATE sluice.session_owner SET version = nextval('sluice.session_version') WHERE owner = $1
  ), forgotten AS (
    DELETE FROM sluice.session_answers WHERE owner = $1 AND number = $2
  )
  UPDATE sluice.session SET ended = true, saw = '{}', keys = '{}' WHERE owner = $1 AND number = $2`
/** At least one row, with the timeline. */
export const READ_SESSIONS = `SELECT t.timeline, o.owner, o.version, o.saw AS owner_saw, s.number, s.saw, s.ended,
    cardinality(s.gates) > 1 AS is_split, ${HAS_GAP} AS has_gap, s.timeline <> t.timeline AS is_older,
    (SELECT max(a.seq) FROM sluice.session_answers a
      WHERE a.owner = s.owner AND a.number = s.number AND a.writer <> $2) AS answers
  FROM (SELECT ${TIMELINE} AS timeline) t
    LEFT JOIN sluice.session_owner o ON o.owner = ANY($1) LEFT JOIN sluice.session s ON s.owner = o.owner`
export const ADD_ANSWERS = 'SELECT * FROM sluice.add_answers($1, $2, $3, $4, $5)'
/** What others than this writer have added to sessions since a row of each. */
export const ANSWERS_SINCE = `SELECT a.owner, a.number, a.seq, a.body
  FROM unnest($1::bytea[], $2::int[], $3::bigint[]) AS u(owner, number, seq)
  JOIN sluice.session_answers a ON a.owner = u.owner AND a.number = u.number AND a.seq > u.seq
  WHERE a.writer <> $4 ORDER BY a.seq`
/** Sessions after their time, then principals that have none. */
export const SWEEP_SESSIONS = `DELETE FROM sluice.session WHERE (owner, number) IN (
    SELECT owner, number FROM sluice.session WHERE seen_at < now() - keep_ms * interval '1 ms'
    LIMIT ${SWEPT_SESSIONS_MAX} FOR UPDATE SKIP LOCKED)`
export const SWEEP_OWNERS = `DELETE FROM sluice.session_owner o WHERE o.owner IN (
    SELECT w.owner FROM sluice.session_owner w WHERE w.seen_at < now() - w.keep_ms * interval '1 ms'
      AND NOT EXISTS (SELECT 1 FROM sluice.session s WHERE s.owner = w.owner)
    LIMIT ${SWEPT_SESSIONS_MAX} FOR UPDATE SKIP LOCKED)`
export const FIND_PEER = `SELECT peer, state, ${SILENT_MS}
  FROM sluice.gates WHERE gate = $1`
export const SESSION_OWNER = 'SELECT owner FROM sluice.takeover WHERE session = $1'
/** Compare and set: of two gates the first has it. */
export const TAKE_OVER = `INSERT INTO sluice.takeover AS t (session, owner, from_gate) VALUES ($1, $2, $3)
  ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, from_gate = excluded.from_gate, at = now()
    WHERE t.owner = excluded.from_gate
  RETURNING owner`
export const TAKEN_FROM = `SELECT encode(session, 'hex') AS session FROM sluice.takeover
  WHERE from_gate = $1 AND owner <> $1 AND at > now() - interval '1 hour'`
export const SWEEP_TAKEOVERS = "DELETE FROM sluice.takeover WHERE at < now() - interval '1 day'"
export const TAKE_LEASE = `INSERT INTO sluice.lease AS l (name, gate, until)
  VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET gate = excluded.gate, until = excluded.until
    WHERE l.until < clock_timestamp()
  RETURNING gate`
export const END_LEASE = 'DELETE FROM sluice.lease WHERE name = $1 AND gate = $2'
