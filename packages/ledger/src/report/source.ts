// The index as a report reads it: the calls of a time range by their numbers, and texts for word
// numbers. Used by the collectors.

import type { DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '@sluice/policy/values/json'
import { IS_COUNTED } from '../query/call-counts.ts'
import { REPORT_ROWS_MAX } from '../records/limits.ts'

/** The calls that a report covers: all of a time range, or those of one caller or agent. */
export interface ReportScope {
  readonly sinceMs: number
  readonly untilMs: number
  readonly principal?: string
  readonly agent?: string
}

type SqlRow = Readonly<Record<string, unknown>>

/** Columns by their names, as SQL over the call `c`. */
export interface CallGroups<Word extends string, Figure extends string> {
  readonly words: Readonly<Record<Word, string>>
  readonly figures: Readonly<Record<Figure, string>>
  /** The groups with the largest value of this figure come first; others may be cut off. */
  readonly orderBy: NoInfer<Figure>
  readonly from?: string
  readonly where?: string
  readonly by?: string
}

/** Statements over the calls of a report, by their numbers. */
export class Source {
  readonly #index: DatabaseSync
  readonly scope: ReportScope
  readonly span: string

  constructor(index: DatabaseSync, scope: ReportScope) {
    this.#index = index
    this.scope = scope
    const { sinceMs, untilMs } = scope
    const bounds = index
      .prepare('SELECT min(seq) AS low, max(seq) AS high FROM calls WHERE at BETWEEN ? AND ?')
      .get(sinceMs, untilMs)
    const [low, high] = [Number(bounds?.low ?? 1), Number(bounds?.high ?? 0)]
    const callers = (['principal', 'agent'] as const).flatMap((column) => {
      const name = scope[column]
      return name === undefined ? [] : [` AND c.${column} = ${this.findWord(name)}`]
    })
    this.span = `c.seq BETWEEN ${low} AND ${high} AND +c.at BETWEEN ${sinceMs} AND ${untilMs} AND c.${IS_COUNTED}${callers.join('')}`
  }

  /** Whether an event is about the caller of the report; every event is about all of them. */
  concerns(detail: JsonObject): boolean {
    const { principal, agent } = this.scope
    if (principal !== undefined && detail.principal !== principal) return false
    return agent === undefined || detail.agent === agent
  }

  get isOfAll(): boolean {
    return this.scope.principal === undefined && this.scope.agent === undefined
  }

  all(sql: string, ...values: (string | number)[]): SqlRow[] {
    return this.#index.prepare(sql).all(...values)
  }

  /**
   * Reads the calls of the report in groups. Columns of `words` hold word numbers and are returned as texts; the
   * groups are by all of them unless `by` says less.
   */
  group<Word extends string, Figure extends string>({
    words,
    figures,
    orderBy,
    from = 'calls c',
    where = 'true',
    by = Object.values(words).join(),
  }: CallGroups<Word, Figure>): (Record<Word, string> & Record<Figure, number>)[] {
    const columns = Object.entries<string>({ ...words, ...figures })
    const rows = this.all(
      `SELECT ${columns.map(([name, sql]) => `${sql} AS ${name}`).join()} FROM ${from}
      WHERE ${where} AND ${this.span} GROUP BY ${by} ORDER BY ${orderBy} DESC LIMIT ${REPORT_ROWS_MAX}`,
    )
    return rows.map((row) => {
      const texts = Object.keys(words).map((name) => [name, this.text(row[name])])
      return { ...row, ...Object.fromEntries(texts) }
    })
  }

  findWord(text: string): number {
    return Number(this.#index.prepare('SELECT id FROM words WHERE text = ?').get(text)?.id ?? 0)
  }

  text(id: unknown): string {
    const row = this.#index.prepare('SELECT text FROM words WHERE id = ?').get(Number(id))
    return String(row?.text ?? '')
  }
}
