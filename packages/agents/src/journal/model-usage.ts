// What models took, by time: tokens and cost of each minute and each hour by model, written in the transaction
// that commits the answer, and kept when the agent is removed, since the money was spent. Whole hours are read
// by their own rows, so that a month is a few hundred rows. Owned by the journal.

import { USAGE_KEPT_MS } from '../shared/limits.ts'
import type { AgentDatabase } from './database.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A model's answer, or a call that was paid for and that nobody waited for. */
export interface SpentUsage {
  readonly atMs: number
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costMicros: number
}

export interface UsageRange {
  readonly sinceMs: number
  /** Exclusive. */
  readonly untilMs: number
}

/** The cost is 0 for a model without a price. */
export interface ModelTotals {
  readonly model: string
  readonly modelCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costMicros: number
}

/** Rows of one process are its own: gates that share a store do not wait for each other's commits. */
const ADD = `INSERT INTO model_usage
  (span, start_at, model, writer, model_calls, input_tokens, output_tokens, cost_nanos)
  VALUES (${MINUTE_MS}, $1, $3, $4, 1, $5, $6, $7), (${HOUR_MS}, $2, $3, $4, 1, $5, $6, $7)
  ON CONFLICT (span, start_at, model, writer) DO UPDATE SET
    model_calls = model_usage.model_calls + excluded.model_calls,
    input_tokens = model_usage.input_tokens + excluded.input_tokens,
    output_tokens = model_usage.output_tokens + excluded.output_tokens,
    cost_nanos = model_usage.cost_nanos + excluded.cost_nanos`

const rowsOf = (span: number, first: number) =>
  `SELECT model, model_calls, input_tokens, output_tokens, cost_nanos FROM model_usage
    WHERE span = ${span} AND start_at >= $${first} AND start_at < $${first + 1}`
/** The sum is no integer: node:sqlite throws on one that no double holds, and all owners read this sum. */
const total = (column: string) => `CAST(sum(${column}) AS DOUBLE PRECISION) AS ${column}`
const READ = `SELECT model, ${total('model_calls')}, ${total('input_tokens')},
  ${total('output_tokens')}, ${total('cost_nanos')}
  FROM (${rowsOf(MINUTE_MS, 1)} UNION ALL ${rowsOf(HOUR_MS, 2)} UNION ALL ${rowsOf(MINUTE_MS, 3)}) AS spent
  GROUP BY model`

export class UsageTable {
  readonly #database: AgentDatabase
  #droppedMs = Number.NEGATIVE_INFINITY

  constructor(database: AgentDatabase) {
    this.#database = database
  }

  add({ atMs, model, inputTokens, outputTokens, costMicros }: SpentUsage): void {
    this.#database.run(
      ADD,
      floorTo(atMs, MINUTE_MS),
      floorTo(atMs, HOUR_MS),
      model,
      this.#database.leases?.lease ?? '',
      inputTokens,
      outputTokens,
      // Integers: both databases add them up to the same figure, in any order.
      Math.round(costMicros * 1_000),
    )
  }

  /** Totals by model, in whole minutes: a minute belongs to the range if it begins in it. */
  read({ sinceMs, untilMs }: UsageRange): ModelTotals[] {
    const [since, until] = [ceilTo(sinceMs, MINUTE_MS), ceilTo(untilMs, MINUTE_MS)]
    const firstHour = Math.min(ceilTo(since, HOUR_MS), until)
    const lastHour = Math.max(floorTo(until, HOUR_MS), firstHour)
    const rows = this.#database.all(READ, since, firstHour, lastHour, until)
    return rows.map((row) => ({
      model: String(row.model),
      modelCalls: Number(row.model_calls),
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      costMicros: Number(row.cost_nanos) / 1_000,
    }))
  }

  /** Null if everything that was ever used is in the table; else it was made by a migration then. */
  get startedMs(): number | null {
    const sql = "SELECT value FROM settings WHERE owner = '' AND name = 'usage since'"
    const row = this.#database.get(sql)
    return row === undefined ? null : Number(row.value)
  }

  /** What is too old, once a day. */
  drop(nowMs: number): void {
    if (nowMs - this.#droppedMs < DAY_MS) return
    this.#droppedMs = nowMs
    for (const span of [MINUTE_MS, HOUR_MS])
      this.#database.run(
        'DELETE FROM model_usage WHERE span = $1 AND start_at < $2',
        span,
        floorTo(nowMs - USAGE_KEPT_MS, HOUR_MS),
      )
  }
}

function floorTo(ms: number, span: number): number {
  return Math.floor(ms / span) * span
}

function ceilTo(ms: number, span: number): number {
  return Math.ceil(ms / span) * span
}
