// Who makes room where something has a bound: of those who have the most, or one principal could push
// all others out, the session that is spared most easily. Used for sessions and for processes.

import { countEach } from '@sluice/policy/structures/count-each'
import type { ClientTransport } from '../shared/transport.ts'

/** A candidate for eviction. */
export type Evictable = Pick<ClientTransport, 'spare' | 'close'>

export interface EvictionCandidate {
  readonly client: Evictable
  /** Id of the principal. */
  readonly owner: string
}

/** Of sessions. */
export const MADE_ROOM = 'the session made room for a newer one'

/** Undefined where none can be spared. */
export function pickEvictable(all: readonly EvictionCandidate[]): Evictable | undefined {
  const counts = countEach(all.map(({ owner }) => owner))
  let best: { client: Evictable; count: number; spare: number } | undefined
  for (const { client, owner } of all) {
    const { spare } = client
    const count = counts.get(owner) as number
    if (spare === undefined) continue
    if (best === undefined || count > best.count || (count === best.count && spare < best.spare))
      best = { client, count, spare }
  }
  return best?.client
}
