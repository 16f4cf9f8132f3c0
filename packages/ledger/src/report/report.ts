// The parts of a report, as collected from the index and shown as a table, Markdown, HTML or `--json`. Types only.

import type { ReportScope } from './source.ts'

/** What `sluice ledger report` prints. With `principal` or `agent` it covers only the calls of that caller. */
export interface LedgerReport extends ReportScope {
  readonly totals: Totals
  /** Equal time spans, the oldest first. */
  readonly spans: readonly Span[]
  /** The tools with the most calls. */
  readonly tools: readonly ToolRow[]
  /** The callers with the most calls. */
  readonly principals: readonly PrincipalRow[]
  /** The most frequent refusals. */
  readonly refused: readonly RefusalReportRow[]
  /** Calls that were pending approval, the newest first. */
  readonly waited: readonly ApprovalReportRow[]
  readonly deciders: readonly DeciderRow[]
  /** Tools that were called for the first time in the retained part of the ledger. */
  readonly newTools: readonly NewToolRow[]
  readonly definitions: readonly DefinitionRow[]
  /** The limits that refused the most calls. */
  readonly limits: readonly LimitRow[]
  /** The sessions with the most calls. */
  readonly sessions: readonly ReportSession[]
  /** The decisions that rules in shadow mode would have made. */
  readonly shadow: readonly ShadowRow[]
  /** Events of the gate itself, the newest first. */
  readonly events: readonly EventRow[]
}

/** How many calls there were. `calls` is the sum of `allowed`, `refused` and `held`. */
export interface Totals {
  readonly calls: number
  readonly allowed: number
  /** Calls that were refused at once. */
  readonly refused: number
  /** Calls that needed an approval, whatever became of them. */
  readonly held: number
  /** How many of the refused calls were over a limit. */
  readonly limited: number
  /** Calls that were sent and answered without an error. */
  readonly answered: number
  /** Calls that were sent and ended in an error, in a lost connection, or were cancelled. */
  readonly failed: number
  /** Calls that were sent and of which nobody knows whether they ran. */
  readonly unknown: number
}

/** The calls of one time span. */
export interface Span {
  /** When the span begins. */
  readonly atMs: number
  readonly allowed: number
  readonly refused: number
  readonly held: number
}

export interface ToolRow {
  /** `server/tool`. */
  readonly tool: string
  readonly calls: number
  /** Calls that were not sent at once: refused, or pending approval. */
  readonly refused: number
  readonly failed: number
  /** The mean time of the answers; null if no call was sent. */
  readonly averageMs: number | null
  /** How many callers there were. */
  readonly people: number
}

export interface PrincipalRow {
  readonly principal: string
  readonly calls: number
  /** Calls that were not sent at once: refused, or pending approval. */
  readonly refused: number
  /** How many different tools were called. */
  readonly tools: number
}

/** Calls that were refused for one reason. */
export interface RefusalReportRow {
  readonly tool: string
  readonly code: string
  readonly rule: string
  readonly reason: string
  readonly count: number
  /** How many callers were refused. */
  readonly people: number
  /** When the last of these calls was refused. */
  readonly lastMs: number
}

/** A call that was pending approval. */
export interface ApprovalReportRow {
  /** The id of the approval. */
  readonly request: string
  readonly tool: string
  readonly principal: string
  readonly atMs: number
  /** `pending`, or how it ended: `approved`, `denied`, `expired`, `void` or `executed`. */
  readonly became: string
  /** The last person who voted; empty if nobody did. */
  readonly by: string
  /** The time to its end; null if it has none yet. */
  readonly waitedMs: number | null
  /** The last comment of a voter; empty if there is none. */
  readonly comment: string
}

/** A person who voted. */
export interface DeciderRow {
  readonly name: string
  /** How many calls the person's vote approved. */
  readonly approved: number
  readonly denied: number
}

export interface NewToolRow {
  readonly tool: string
  readonly calls: number
  readonly firstMs: number
}

/** A definition of a tool that was accepted, or that calls were refused for. */
export interface DefinitionRow {
  readonly atMs: number
  readonly tool: string
  /** What happened, as a sentence for people. */
  readonly what: string
}

/** Calls of one caller that were over one limit. */
export interface LimitRow {
  readonly rule: string
  readonly code: string
  readonly principal: string
  readonly count: number
  readonly lastMs: number
}

export interface ReportSession {
  readonly session: string
  /** The client, marked as self-reported; empty if the ledger no longer says. */
  readonly name: string
  readonly principal: string
  readonly firstMs: number
  readonly calls: number
  /** Calls that were not sent at once: refused, or pending approval. */
  readonly refused: number
}

export interface ShadowRow {
  readonly tool: string
  /** What the rules in shadow mode would have done: `deny by RULE (reason)`. */
  readonly shadow: string
  /** The action of the policy in force. */
  readonly action: string
  readonly count: number
  /** How many callers it would have met. */
  readonly people: number
  readonly lastMs: number
}

export interface EventRow {
  readonly atMs: number
  readonly name: string
  /** The members of the event, as JSON. */
  readonly detail: string
}
