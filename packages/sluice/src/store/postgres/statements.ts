// The statements of a gate on its shared store, each with parameters only.

import { ADMIT_BATCH_MAX } from '../limits.ts'

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
