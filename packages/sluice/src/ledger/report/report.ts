// The parts of a report, as collected from the index and shown as a table, Markdown or HTML. Types
// only.

/** The calls that a report covers: all of a time range, or those of one caller or agent. */
export interface ReportScope {
  readonly sinceMs: number
  readonly untilMs: number
  readonly principal?: string
  readonly agent?: string
}

export interface LedgerReport extends ReportScope {
  readonly totals: Totals
  /** Equal time spans, oldest first. */
  readonly spans: readonly Span[]
  readonly tools: readonly ToolRow[]
  readonly principals: readonly PrincipalRow[]
  readonly refused: readonly RefusalReportRow[]
  readonly waited: readonly ApprovalReportRow[]
  readonly deciders: readonly {
    readonly name: string
    readonly approved: number
    readonly denied: number
  }[]
  /** Called for the first time in the retained part of the ledger. */
  readonly newTools: readonly {
    readonly tool: string
    readonly firstMs: number
    readonly calls: number
  }[]
  readonly definitions: readonly {
    readonly atMs: number
    readonly tool: string
    readonly what: string
  }[]
  readonly limits: readonly LimitRow[]
  readonly sessions: readonly ReportSession[]
  /** The decisions that rules in shadow mode would have made. */
  readonly shadow: readonly ShadowRow[]
  readonly events: readonly {
    readonly atMs: number
    readonly name: string
    readonly detail: string
  }[]
}

export interface Totals {
  readonly calls: number
  readonly allowed: number
  readonly refused: number
  readonly held: number
  readonly limited: number
  readonly answered: number
  readonly failed: number
  readonly unknown: number
}

export interface Span {
  readonly atMs: number
  readonly allowed: number
  readonly refused: number
  readonly held: number
}

export interface ToolRow {
  readonly tool: string
  readonly calls: number
  readonly refused: number
  readonly failed: number
  readonly averageMs: number | null
  readonly people: number
}

export interface PrincipalRow {
  readonly principal: string
  readonly calls: number
  readonly refused: number
  readonly tools: number
}

export interface RefusalReportRow {
  readonly tool: string
  readonly code: string
  readonly rule: string
  readonly reason: string
  readonly count: number
  readonly people: number
  readonly lastMs: number
}

export interface ApprovalReportRow {
  readonly request: string
  readonly tool: string
  readonly principal: string
  readonly atMs: number
  readonly became: string
  readonly by: string
  readonly waitedMs: number | null
  readonly comment: string
}

export interface ReportSession {
  readonly session: string
  /** The client, marked as self-reported; empty if the ledger no longer says. */
  readonly name: string
  readonly principal: string
  readonly firstMs: number
  readonly calls: number
  readonly refused: number
}

export interface ShadowRow {
  readonly tool: string
  /** `deny by RULE (reason)`. */
  readonly shadow: string
  /** The action of the policy in force. */
  readonly action: string
  readonly count: number
  readonly people: number
  readonly lastMs: number
}

export interface LimitRow {
  readonly rule: string
  readonly code: string
  readonly principal: string
  readonly count: number
  readonly lastMs: number
}
