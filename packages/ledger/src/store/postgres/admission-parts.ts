// What the admission of a gate at a shared store is made of, and its states. Types only.

import type { ApprovalUseRequest } from '../admission.ts'
import type { ChainHead, WrittenRecord } from './batch.ts'
import type { PostgresConnections } from './connections.ts'

/** `open`: calls are admitted. `unknown`: not before it is known what the last statement did.
 * `fenced`, `lost`, `closed`: never again. */
export type AdmissionState = 'open' | 'unknown' | 'fenced' | 'lost' | 'closed'

/** What a failover had lost, and the gate has given back. */
export interface RestoredRecords {
  readonly from: number
  readonly through: number
}

/** A time in which the database did not answer, or refused to write. */
export interface StoreOutage {
  readonly sinceMs: number
  /** What the database gave last as the reason, without its address; that it did not answer, if it gave none. */
  readonly why: string
}

export interface PostgresAdmissionParts<Entry> {
  readonly connections: PostgresConnections
  readonly gate: string
  /** The body of the intent of a call. */
  readonly encodeIntent: (entry: Entry) => string
  /** The body of the outcome of a call that was admitted and not sent. */
  readonly encodeUndone: (intent: number) => string
  /** The body of the event that calls could not be recorded for a time. */
  readonly encodeOutage: (outage: StoreOutage) => string
  /** How often an approval may be used; undefined for no bound. */
  readonly usesOf: (approval: ApprovalUseRequest) => number | undefined
  /** The version of the shared state that this gate has. */
  readonly version: () => number
  /** Rises with every change of that state, here and elsewhere. */
  readonly stamp: () => number
  /** Why this gate must not admit anything now. */
  readonly objection?: () => string | undefined
  /** Commits what this gate has changed of it. */
  readonly settle: () => Promise<void>
  /** Records of this gate's chain after this one, as its copy has them. */
  readonly readCopy?: (after: number) => readonly WrittenRecord[]
  /** The body of the event of records that were given back. */
  readonly encodeRestored?: (detail: RestoredRecords) => string
  /** Commits may be lost: what else this gate knows is to be stored again. */
  readonly onFailover?: () => Promise<void>
  /** Another gate has changed the shared state: read it. */
  readonly catchUp: () => Promise<void>
  /** Another gate has changed sessions of these principals: read them. */
  readonly refreshSessions?: (owners: ReadonlySet<string>) => Promise<void>
  /** Records in the order of the chain, once they are durable. */
  readonly onWritten?: (records: readonly WrittenRecord[], head: ChainHead) => void
  readonly onState?: (state: AdmissionState, why: string) => void
}
