// The ledger of gates that share a store, as far as one gate writes it. Types only.

import type { Checkpoint } from './chain/checkpoint.ts'
import type { LedgerState } from './ledger.ts'
import type { LedgerEntry } from './records/record.ts'
import type { StoreError } from './store/errors.ts'

/** Intents are written there by admission. */
export interface SharedLog {
  readonly state: LedgerState
  readonly fault: StoreError | undefined
  readonly figures: { readonly commits: number; readonly open: number; readonly kept: number }
  /** A record that comes before what it tells of (record-first.ts) waits no longer than a call; the others wait until the database is back. */
  append(entry: LedgerEntry, isFirst?: boolean): Promise<number>
  /** The checkpoint that replaces the records of this gate which were dropped there. */
  readonly base: Checkpoint | undefined
  /** From now on the chain starts there after this checkpoint; `dropRest` frees the space. */
  beginAfter(checkpoint: Checkpoint): Promise<void>
  dropRest(): Promise<void>
}
