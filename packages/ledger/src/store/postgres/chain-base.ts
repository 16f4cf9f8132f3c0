// The start of a gate's chain in the shared store, after records were dropped: a signed checkpoint replaces them.
// The gate itself drops them, a few thousand at a time, after the event of it is in the chain.

import { StoreError } from '../errors.ts'
import type { Queryable } from './connections.ts'
import { BEGIN_AFTER, DROP_RECORDS, LEDGER_BASES } from './statements.ts'

/** The start of one gate's chain. */
export interface ChainBase {
  readonly gate: string
  /** The last record that was dropped. */
  readonly seq: number
  /** The hash after that record, hex. */
  readonly hash: string
  /** The signed checkpoint as stored: the caller decides whether it is trusted. */
  readonly checkpoint: string
}

export async function readChainBases(connections: Queryable): Promise<ChainBase[]> {
  return (await connections.query(LEDGER_BASES)).map((row) => ({
    gate: String(row.gate),
    seq: Number(row.seq),
    hash: (row.hash as Buffer).toString('hex'),
    checkpoint: String(row.checkpoint),
  }))
}

/** From now on the chain starts after this record. */
export async function beginChainAfter(
  connections: Queryable,
  epoch: number,
  { gate, seq, hash, checkpoint }: ChainBase,
): Promise<void> {
  const values = [gate, epoch, seq, Buffer.from(hash, 'hex'), checkpoint]
  if ((await connections.query(BEGIN_AFTER, values)).length > 0) return
  throw new StoreError(
    'STORE_LOST',
    `record ${seq} of this gate is not in the shared store as it was signed`,
    'see `sluice ledger verify --store`; nothing was dropped',
  )
}

/** Removes what is before the start. */
export async function dropBeforeStart(connections: Queryable, gate: string): Promise<void> {
  while ((await connections.query(DROP_RECORDS, [gate])).length > 0);
}
