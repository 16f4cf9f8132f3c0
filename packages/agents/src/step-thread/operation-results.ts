// Results of operations of the step thread: plain data that crosses between the threads.

import type { JournalEvent } from '../guest/protocol.ts'
import type { HostUsage } from '../journal/family-limits.ts'
import type { ModelTotals } from '../journal/model-usage.ts'
import type { AgentRow, HostStop, RunRow } from '../journal/rows.ts'
import type { ScheduleRow } from '../journal/schedules.ts'
import type { QueryAnswer } from '../steps/stepper.ts'
import type { DigestedFile } from './file-digests.ts'

/** What an agent answers to a question, and its row. */
export interface AgentAnswer extends QueryAnswer {
  readonly agent: AgentRow
}

export interface AgentFiles {
  readonly agent: AgentRow
  readonly files: readonly DigestedFile[]
}

export interface AgentStatus extends HostUsage {
  readonly agent: AgentRow
  readonly held: HostStop | null
}

/** A schedule with the run that it began last, if that is still in the journal. */
export interface ScheduleStatus extends ScheduleRow {
  readonly run: RunRow | null
}

/** An agent in the list of all. */
export interface ListedAgent extends AgentRow {
  /** The beginning of its first prompt. */
  readonly task: string | null
  /** When something last happened to it. */
  readonly lastAt: number
}

export interface HistoryEntry {
  readonly seq: number
  readonly at: number
  readonly kind: string
  readonly turn: number
  readonly event: JournalEvent
}

export interface ModelUsageReport {
  /** What was used before is not known by time; null if nothing was. */
  readonly startedMs: number | null
  /** The totals by model, a list for each range that was asked for. */
  readonly ranges: readonly (readonly ModelTotals[])[]
}

/** Every file of an agent: a list in JSON, and the bytes that belong to it. */
export interface ProgramFiles {
  readonly text: string
  readonly bytes: Uint8Array | undefined
}
