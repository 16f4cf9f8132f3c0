// Compares a copy of the records of all gates with the shared store, before new ones are copied. Used by the console
// and by `sluice ledger … --store`.

import type { Queryable } from '../store/postgres/connections.ts'
import { FollowedChains } from '../store/postgres/follow-chains.ts'
import type { MergedLedger } from './merged-ledger.ts'

/** What has to be done to the copy. */
export interface StoreLook {
  /** The chains with the records that are not in the copy yet. */
  readonly chains: FollowedChains
  /** The last record of each gate that retention dropped: for `MergedLedger.drop`, after the rest is copied. */
  readonly dropped: ReadonlyMap<string, number>
}

/** `chains` are those of the last time. If the store has lost records that the copy has, the copy is cleared. */
export async function lookAtStore(
  connections: Queryable,
  merged: MergedLedger,
  chains = new FollowedChains(connections, merged.chains),
): Promise<StoreLook> {
  const { isSame, dropped } = await chains.look()
  if (isSame) return { chains, dropped }
  merged.clear()
  const all = new FollowedChains(connections, new Map())
  return { chains: all, dropped: (await all.look()).dropped }
}
