// Compares a copy of the records of all gates with the shared store, before new ones are copied. Used by the console
// and by `sluice ledger … --store`.

import type { PostgresConnections } from '../store/postgres/connections.ts'
import { FollowedChains } from '../store/postgres/follow-chains.ts'
import type { MergedLedger } from './merged-ledger.ts'

/**
 * `chains` are those of the last time. If the store has lost records that the copy has, the copy is cleared.
 * `chains`: the chains with the records that are not in the copy yet. `dropped`: the last record of each gate
 * that retention dropped: for `MergedLedger.drop`, after the rest is copied.
 */
export async function lookAtStore(
  connections: Pick<PostgresConnections, 'query'>,
  merged: MergedLedger,
  chains = new FollowedChains(connections, merged.chains),
) {
  const { isSame, dropped } = await chains.look()
  if (isSame) return { chains, dropped }
  merged.clear()
  const all = new FollowedChains(connections, new Map())
  return { chains: all, dropped: (await all.look()).dropped }
}
