// How much of a limit is used now, over all gates of a shared store: for people, not for decisions. Two
// look-ups by key for each counter, and charges whose window has passed since the last call are left out.

import type { LimitCharge } from '@sluice/policy/calls/counters'
import { type Decimal, parseDecimal, ZERO } from '@sluice/policy/values/decimal'
import { digestCharge } from './batch.ts'
import type { Queryable } from './connections.ts'

const USED = `SELECT (k.sum - coalesce((SELECT sum(c.amount) FROM sluice.charge c
    WHERE c.key = k.key AND c.at <= now() - w.ms * interval '1 ms'), 0))::text AS used
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w(key, ms, place)
    LEFT JOIN sluice.counter k ON k.key = decode(w.key, 'hex') ORDER BY w.place`

/** The name of a counter in the store, as hexadecimal digits. */
export function digestCounter(counter: Pick<LimitCharge, 'key' | 'windowMs'>): string {
  return Buffer.from(digestCharge(counter), 'latin1').toString('hex')
}

/** One amount for each counter, named by its digest. Rejects if the store does not answer. */
export async function readUsage(
  connections: Queryable,
  counters: readonly { readonly id: string; readonly windowMs: number }[],
): Promise<readonly Decimal[]> {
  if (counters.length === 0) return []
  const rows = await connections.query(USED, [
    counters.map(({ id }) => id),
    counters.map(({ windowMs }) => windowMs),
  ])
  return rows.map(({ used }) => (used === null ? ZERO : (parseDecimal(String(used)) ?? ZERO)))
}
