// Results of operations of the step thread: plain data that crosses between the threads.

import type { HostUsage } from '../journal/family-limits.ts'
import type { ModelTotals } from '../journal/model-usage.ts'
import type { AgentRow, HostStop } from '../journal/rows.ts'

export interface AgentStatus extends HostUsage {
  readonly agent: AgentRow
  readonly held: HostStop | null
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
  readonly event: Readonly<Record<string, unknown>>
}

export interface ModelUsageReport {
  /** What was used before is not known by time; null if nothing was. */
  readonly startedMs: number | null
  /** By model, a list for each range that was asked for. */
  readonly ranges: readonly (readonly ModelTotals[])[]
}

/** Every file of an agent: a list in JSON, and the bytes that belong to it. */
export interface ProgramFiles {
  readonly text: string
  readonly bytes: Uint8Array | undefined
}
