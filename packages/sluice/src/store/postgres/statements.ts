// The statements of a gate on its shared store, each with parameters only.

import { ADMIT_BATCH_MAX, CHAIN_PAGE_ROWS, SWEPT_COUNTERS_MAX } from '../limits.ts'

export const ADMIT = `SELECT at::text AS at, batch, seq, head, misfits
  FROM sluice.admit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
export const WRITTEN_SINCE = `SELECT seq, id, at::text AS at, kind, body FROM sluice.ledger
  WHERE gate = $1 AND seq > $2 ORDER BY seq LIMIT ${ADMIT_BATCH_MAX + 1}`
export const GIVE_BACK = 'SELECT sluice.give_back($1, $2, $3, $4, $5)'
const HEAD = 'epoch, seq, head, batch, open_from'
export const ENTER = `INSERT INTO sluice.gates AS g (gate, epoch, owner) VALUES ($1, 1, $2)
  ON CONFLICT (gate) DO UPDATE
    SET epoch = g.epoch + 1, owner = excluded.owner, beat_at = now(), started_at = now()
  RETURNING ${HEAD}`
export const RAISE = `UPDATE sluice.gates SET epoch = epoch + 1, beat_at = now()
  WHERE gate = $1 AND owner = $2 RETURNING ${HEAD}`
export const SHARED_SINCE = `SELECT c.version AS current, c.root, s.kind, s.key, s.body, s.version, s.mac
  FROM sluice.control c LEFT JOIN sluice.shared s ON s.version > $1`
export const CHANGE = 'SELECT sluice.change($1, $2, $3, $4, $5, $6, $7, $8, $9)'
export const BEAT = `UPDATE sluice.gates SET beat_at = now(), version = $2, state = $3, release = $4,
  config = $5, address = $6, key = $7 WHERE gate = $1 AND epoch = $8`
export const LEAVE = `UPDATE sluice.gates SET state = 'stopped', beat_at = now()
  WHERE gate = $1 AND epoch = $2`
export const GATES = `SELECT g.*, extract(epoch FROM now() - g.beat_at) * 1000 AS silent_ms,
  c.version AS current FROM sluice.gates g CROSS JOIN sluice.control c ORDER BY g.gate`
export const CHAIN_PAGE = `SELECT seq, kind, body, hash
  FROM sluice.ledger WHERE gate = $1 AND seq >= $2 ORDER BY seq LIMIT ${CHAIN_PAGE_ROWS}`
/** Counters whose window is over: a call of the same key makes a new one. */
export const SWEEP = `WITH old AS (
    SELECT key FROM sluice.counter WHERE until < now() - interval '1 minute'
    LIMIT ${SWEPT_COUNTERS_MAX} FOR UPDATE SKIP LOCKED
  ), gone AS (DELETE FROM sluice.charge c USING old WHERE c.key = old.key)
  DELETE FROM sluice.counter c USING old WHERE c.key = old.key`
