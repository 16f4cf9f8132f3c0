// What the page Live receives: calls as they pass, counters and rows. Types only.

import type { OutcomeLabel } from '../../core/outcome-label.ts'

export type { OutcomeLabel }

export interface LiveRow {
  readonly callId: string
  readonly atMs: number
  readonly principal: string
  readonly agent: string | null
  readonly session: string
  readonly server: string
  readonly method: string
  readonly name: string
  readonly category: string | null
  /** The class is a guess. */
  readonly unknown: boolean
  readonly word: OutcomeLabel
  readonly code: string
  readonly rule: string
  readonly reason: string
  /** Null while it is open. */
  readonly status: string | null
  readonly durationMs: number | null
}

/** Calls by server, tool and outcome. */
export type LiveCounts = readonly (readonly [
  server: string,
  tool: string,
  word: OutcomeLabel,
  n: number,
])[]

/** Exact: every call is counted, whatever rows are left out. */
export interface LiveSecond {
  readonly atMs: number
  readonly counts: LiveCounts
  /** Calls that took at most the bound of the same place in `LiveSnapshot.boundsMs`; waiting for a person
   * is not counted. */
  readonly latency: readonly number[]
}

/** What came since the last tick, a quarter of a second. */
export interface LiveTick extends LiveSecond {
  readonly rows: readonly LiveRow[]
  /** How rows that were sent before have ended. */
  readonly settled: readonly (readonly [callId: string, status: string, durationMs: number])[]
  /** Calls that have no row because there were too many. */
  readonly left: number
}

export interface LiveSnapshot {
  /** Whose calls they are, where gates share a store. */
  readonly gate?: string
  readonly boundsMs: readonly number[]
  /** Somebody looked for the first time then, or five minutes ago: nothing is known of before. */
  readonly sinceMs: number
  /** Up to now, the newest last; seconds without calls are left out. */
  readonly seconds: readonly LiveSecond[]
}

/** The newest recorded calls, the newest last. */
export interface LiveRows {
  readonly rows: readonly LiveRow[]
}

/** Where a recorded call is found. */
export interface CallAddress {
  readonly callId: string
  readonly session: string
  readonly atMs: number
  /** The number of its record, if that is known. */
  readonly seq?: number | undefined
}
