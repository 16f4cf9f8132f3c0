// How much of the agents' history is kept. Old events are removed up to a checkpoint, which has all that
// they led to: the state is never touched, and the history says where it starts. Called in the step
// thread, after a checkpoint and while it is idle.

import {
  HISTORY_EVENTS_MIN,
  HISTORY_MEGABYTES_DEFAULT,
  SWEEP_AGENTS,
  SWEEP_EVERY_MS,
} from '../shared/limits.ts'
import type { Journal } from './journal.ts'

export interface HistorySettings {
  readonly days?: number
  readonly megabytes?: number
}

export interface HistoryRetention {
  /** Null: no limit by age. */
  readonly ageMs: number | null
  /** How many bytes one agent may have. */
  readonly bytes: number
}

export function toRetention({ days, megabytes }: HistorySettings = {}): HistoryRetention {
  return {
    ageMs: days === undefined ? null : days * 86_400_000,
    bytes: (megabytes ?? HISTORY_MEGABYTES_DEFAULT) * 1_048_576,
  }
}

const SIZES_AT_ONCE = 200

/** The share of the allowed bytes that is left after dropping, so that it is not done every time. */
const LEFT_SHARE = 0.75

export class Retention {
  readonly #journal: Journal
  readonly #retention: HistoryRetention
  #walked = 0
  #walkEndedAt = 0

  constructor(journal: Journal, retention: HistoryRetention) {
    this.#journal = journal
    this.#retention = retention
  }

  /** After a checkpoint of an agent that works. */
  trim(key: number, seq: number, nowMs: number): void {
    const bytes = this.#journal.journalBytes(key)
    if (bytes <= this.#retention.bytes && this.#retention.ageMs === null) return
    const over = bytes > this.#retention.bytes ? bytes - this.#retention.bytes * LEFT_SHARE : 0
    this.#drop(key, seq - HISTORY_EVENTS_MIN, over, nowMs)
  }

  /** The next few agents, idle ones too; true while a round is not complete. */
  sweep(nowMs: number): boolean {
    if (this.#retention.ageMs === null) return false
    if (this.#walked === 0 && nowMs - this.#walkEndedAt < SWEEP_EVERY_MS) return false
    const rows = this.#journal.all(
      `SELECT agent, seq FROM agents a WHERE agent > $1 AND ${this.#journal.database.own}
       ORDER BY agent LIMIT $2`,
      this.#walked,
      SWEEP_AGENTS,
    )
    for (const { agent, seq } of rows) this.#drop(Number(agent), Number(seq), 0, nowMs)
    this.#walked = rows.length < SWEEP_AGENTS ? 0 : Number(rows.at(-1)?.agent)
    if (this.#walked === 0) this.#walkEndedAt = nowMs
    return this.#walked !== 0
  }

  /** The oldest events that are too old, or until so many bytes are gone, up to an event. */
  #drop(key: number, until: number, bytes: number, nowMs: number): void {
    const since = this.#retention.ageMs === null ? 0 : nowMs - this.#retention.ageMs
    let last = 0
    let freed = 0
    const rows = this.#sizes(key, until)
    for (const { seq, at, size } of rows) {
      if (at >= since && freed >= bytes) break
      last = seq
      freed += size
    }
    // The newest checkpoint that all of the dropped are behind.
    const base = last === 0 ? undefined : this.#journal.memories.checkpointBefore(key, last)
    if (base !== undefined) this.#dropHistory(key, base)
  }

  /** The events up to one, oldest first, with time and size; read in pages. */
  *#sizes(key: number, until: number): Generator<{ seq: number; at: number; size: number }> {
    const sql = `SELECT seq, at, octet_length(event) + coalesce(octet_length(bytes), 0) AS size
      FROM events WHERE agent = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`
    for (let after = 0; ; ) {
      const rows = this.#journal.all(sql, key, after, until, SIZES_AT_ONCE)
      for (const row of rows) yield row as { seq: number; at: number; size: number }
      if (rows.length < SIZES_AT_ONCE) return
      after = Number(rows.at(-1)?.seq)
    }
  }

  /** Removes the events up to a checkpoint and what only they needed; the newest run stays. */
  #dropHistory(key: number, base: number): void {
    const journal = this.#journal
    journal.transact(() => {
      const events = 'FROM events WHERE agent = $1 AND seq <= $2'
      const size = 'octet_length(event) + coalesce(octet_length(bytes), 0)'
      const gone = journal.get(`SELECT sum(${size}) AS n, max(at) AS at ${events}`, key, base)
      if (typeof gone?.at !== 'number') return
      journal.run(`DELETE ${events}`, key, base)
      journal.memories.drop(key, 0, base - 1)
      journal.run(
        `DELETE FROM runs WHERE agent = $1 AND result IS NOT NULL AND started_at < $2
         AND run < (SELECT max(run) FROM runs WHERE agent = $1)`,
        key,
        gone.at,
      )
      const left = 'CASE WHEN journal_bytes > $2 THEN journal_bytes - $2 ELSE 0 END'
      const sql = `UPDATE agents SET journal_bytes = ${left} WHERE agent = $1`
      journal.run(sql, key, Number(gone.n))
    })
  }
}
