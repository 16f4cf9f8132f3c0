// Commits of agents' steps: the one interface between running an event in a guest and storing it. A store
// commits events with everything that follows from them, all or none, and only if the agent is still where
// the caller believes it to be. SQLite (journal.ts) implements it; every driver passes the tests beside this file.

import type { JournalEvent, StepResult } from '../guest/protocol.ts'
import type { HostUsage } from './family-limits.ts'
import type { AgentRow, EventRow } from './rows.ts'

/** Where an append starts. Nothing is written if the agent is no longer there: another writer came first. */
export interface Fence {
  readonly agent: AgentRow
}

/** An event that a guest has run, and its result. */
export interface JournalEntry {
  readonly event: JournalEvent
  /** The event as text, its bytes, and the hash of the guest's answer. */
  readonly row: Pick<EventRow, 'event' | 'bytes' | 'answer'>
  readonly step: StepResult
  /** Names the request, so that a commit whose reply was lost is found again. */
  readonly nonce: string | null
  /** The request that a prompt belongs to. */
  readonly request?: string | null | undefined
  /** A reset from inside clears the agent, not what its family has used. */
  readonly keepsCounts?: boolean | undefined
}

export type AppendReply =
  /** Durable: effects may be carried out. */
  | ({ readonly status: 'appended'; readonly agent: AgentRow } & HostUsage)
  /** Nothing was written: the journal has other events after the fence, or the agent is gone. */
  | { readonly status: 'fenced'; readonly seq: number | undefined }

export interface EventJournal {
  /** Rejects if the events may not be durable: the caller discards the memory that ran them. */
  append(fence: Fence, entries: readonly JournalEntry[]): Promise<AppendReply>
}
