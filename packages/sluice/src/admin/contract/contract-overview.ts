// What the overview shows of a stretch of time. Types only.

import type { SentAlert } from '../../core/alert.ts'
import type { OutcomeLabel } from './contract-live.ts'

export type OutcomeCounts = Partial<Readonly<Record<OutcomeLabel, number>>>

/** `GET /api/ledger/histogram`: calls that match the filters of `/api/ledger`, exact for the stretch
 * that it names, as far as the index goes. */
export interface CallHistogram {
  readonly sinceMs: number
  readonly untilMs: number
  /** Where the first interval begins: at `sinceMs`, or with its minute. */
  readonly startMs: number
  readonly intervalMs: number
  /** Those without calls are left out. */
  readonly intervals: readonly { readonly atMs: number; readonly counts: OutcomeCounts }[]
  /** Only calls among so many of the newest records are counted. */
  readonly newest?: number
  /** Records that are not indexed yet, and not counted. */
  readonly behind: number
  /** Where gates share a store: why records may be missing. */
  readonly notFollowed?: string
}

/** `GET /api/ledger/sum`: of the numbers that matching calls have at one path; sums are double precision. */
export interface RecordedSum {
  readonly calls: number
  readonly sum: number
  /** Of those that were allowed: a call that waited is there once when it was held and once when it was made. */
  readonly allowed: number
  readonly allowedSum: number
  readonly min: number
  readonly max: number
}

/** `GET /api/ledger/names`: names that calls have in one column. */
export interface LedgerNames {
  readonly names: readonly string[]
}

/** `GET /api/overview`. */
export interface Overview extends CallHistogram {
  readonly totals: OutcomeCounts
  /** Of the stretch of the same length before it. */
  readonly before: OutcomeCounts
  /** The minute of the first recorded call; null if there is none. Before it nothing is known. */
  readonly recordsSinceMs: number | null
  /** Codes of calls that were held or not allowed. */
  readonly reasons: readonly CountedName[]
  readonly principals: readonly CountedName[]
  readonly agents: readonly CountedName[]
  readonly tools: readonly CountedName[]
  /** Every server that was called, in no order. */
  readonly servers: readonly CountedName[]
}

/** `GET /api/usage`: what models took for agents, removed ones too. In whole minutes: one belongs to the
 * stretch in which it begins. */
export interface AgentUsage {
  readonly sinceMs: number
  readonly untilMs: number
  /** What was used before is not known by time; null if nothing was. */
  readonly knownSinceMs: number | null
  readonly totals: UsageFigures
  /** Of the stretch of the same length before it. */
  readonly before: UsageFigures
  /** The one with the most tokens first. */
  readonly models: readonly (UsageFigures & { readonly model: string })[]
}

export interface UsageFigures {
  readonly modelCalls: number
  /** Input and output together. */
  readonly tokens: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** In the currency of the prices; a model without a price adds nothing. */
  readonly cost: number
}

/** `GET /api/limits`: the fullest first. */
export interface LimitsView {
  readonly limits: readonly {
    /** Which rule, and whose counter. */
    readonly limit: string
    readonly whose: string
    readonly kind: 'rate' | 'spend'
    readonly windowMs: number
    readonly used: string
    readonly max: string
    readonly share: number
  }[]
  /** Limits that have something used. */
  readonly count: number
}

/** `GET /api/alerts`. */
export interface AlertsView {
  /** What this gate sends alerts for; null if its configuration has no `alerts`. */
  readonly alerts: {
    readonly on: readonly string[]
    readonly channels: readonly string[]
    readonly everyMs: number
    readonly denialsPercent: number
    readonly limitPercent: number
    readonly verifyMs: number
  } | null
  /** Of all gates that share a store, the newest first. */
  readonly sent: readonly SentAlertView[]
  /** False if the shared store does not answer: alerts of other gates may be missing. */
  readonly isComplete: boolean
}

export interface SentAlertView
  extends Pick<SentAlert, 'id' | 'gate' | 'atMs' | 'kind' | 'title' | 'facts' | 'page'> {
  /** Words in an answer that it is about; empty if it is not about an answer. */
  readonly found: string
  /** `past`: it has happened, and does not end. `unknown`: it had not ended when its gate was lost. */
  readonly state: 'ongoing' | 'over' | 'past' | 'unknown'
  readonly overAtMs: number | null
  /** Channels that did not take it. */
  readonly undelivered: readonly string[]
  /** Null until a person has said so. */
  readonly handled: AlertHandling | null
}

export interface AlertHandling {
  readonly by: string
  readonly note: string
  readonly atMs: number
}

/** `POST /api/alerts/test`: `why` is empty if it was sent. */
export interface AlertTest {
  readonly deliveries: readonly { readonly channel: string; readonly why: string }[]
}

export interface CountedName {
  readonly name: string
  readonly calls: number
  readonly counts: OutcomeCounts
}
