// The index as a report reads it: the calls of a time range by their numbers, and texts for word
// numbers. Used by the collectors.

import type { DatabaseSync } from 'node:sqlite'

type SqlRow = Readonly<Record<string, unknown>>

/** Statements over the calls of the time range, by their numbers. */
export class Source {
  readonly #index: DatabaseSync
  readonly sinceMs: number
  readonly untilMs: number
  readonly span: string

  constructor(index: DatabaseSync, sinceMs: number, untilMs: number) {
    this.#index = index
    this.sinceMs = sinceMs
    this.untilMs = untilMs
    const bounds = index
      .prepare('SELECT min(seq) AS low, max(seq) AS high FROM calls WHERE at BETWEEN ? AND ?')
      .get(sinceMs, untilMs)
    const [low, high] = [Number(bounds?.low ?? 1), Number(bounds?.high ?? 0)]
    this.span = `c.seq BETWEEN ${low} AND ${high} AND +c.at BETWEEN ${sinceMs} AND ${untilMs}`
  }

  all(sql: string, ...values: (string | number)[]): SqlRow[] {
    return this.#index.prepare(sql).all(...values)
  }

  findWord(text: string): number {
    return Number(this.#index.prepare('SELECT id FROM words WHERE text = ?').get(text)?.id ?? 0)
  }

  text(id: unknown): string {
    const row = this.#index.prepare('SELECT text FROM words WHERE id = ?').get(Number(id))
    return String(row?.text ?? '')
  }
}
