// Families whose last agent was removed: their use is kept for a time, so that an export that was taken
// early does not give the whole budget back when it is imported. Bounded by age and by number for each
// owner. Called by journal.ts in the transaction of a removal.

import { REMOVED_FAMILIES_MAX, REMOVED_FAMILY_KEPT_MS } from '../shared/limits.ts'
import type { Value } from './database.ts'

/** A family's number is never given again: the gate knows its session, and exports name it. */
export const LAST_REMOVED = `coalesce((SELECT CAST(value AS BIGINT) FROM settings
  WHERE owner = '' AND name = 'last removed family'), 0)`

type Run = (sql: string, ...values: Value[]) => void

/** Notes when the last agent of a family was removed, and forgets families that are too old or too many. Changes
 * nothing if the family still has agents. */
export function keepRemovedFamily(run: Run, family: number, owner: string, nowMs: number): void {
  const gone = 'family = $1 AND members <= 0'
  run(
    `INSERT INTO settings (owner, name, value)
     SELECT '', 'last removed family',
       CASE WHEN family > ${LAST_REMOVED} THEN family ELSE ${LAST_REMOVED} END
     FROM families WHERE ${gone}
     ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value`,
    family,
  )
  run(`UPDATE families SET removed_at = $2 WHERE ${gone}`, family, nowMs)
  const expired = nowMs - REMOVED_FAMILY_KEPT_MS
  run('DELETE FROM families WHERE owner = $1 AND removed_at < $2', owner, expired)
  run(
    `DELETE FROM families WHERE family IN (SELECT family FROM families
       WHERE owner = $1 AND removed_at IS NOT NULL
       ORDER BY removed_at DESC, family DESC LIMIT 1000000000 OFFSET $2)`,
    owner,
    REMOVED_FAMILIES_MAX,
  )
}
