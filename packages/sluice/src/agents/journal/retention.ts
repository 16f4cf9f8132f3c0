// How much of what agents did is kept. Old events are dropped behind a checkpoint, which holds all
// that they led to; so the state is never touched, and history says from where it starts. Called in
// the step thread, after a checkpoint and while nobody asks.

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
  /** Null: however old they are. */
  readonly ageMs: number | null
  /** Of one agent. */
  readonly bytes: number
}

export function toRetention({ days, megabytes }: HistorySettings = {}): HistoryRetention {
  return {
    ageMs: days === undefined ? null : days * 86_400_000,
    bytes: (megabytes ?? HISTORY_MEGABYTES_DEFAULT) * 1_048_576,
  }
}

/** Of the bytes that are allowed, what is left after dropping: so that it is not done every time. */
const LEFT_SHARE = 0.75

export class Retention {
  readonly #journal: Journal
  readonly #kept: HistoryRetention
  #walked = 0
  #walkEndedAt = 0

  constructor(journal: Journal, kept: HistoryRetention) {
    this.#journal = journal
    this.#kept = kept
  }

  /** After a checkpoint of an agent that works. */
  trim(key: number, seq: number, nowMs: number): void {
    const bytes = this.#journal.journalBytes(key)
    if (bytes <= this.#kept.bytes && this.#kept.ageMs === null) return
    const over = bytes > this.#kept.bytes ? bytes - this.#kept.bytes * LEFT_SHARE : 0
    this.#drop(key, seq - HISTORY_EVENTS_MIN, over, nowMs)
  }

  /** A few agents more, of those at rest too; true where it has not been round. */
  sweep(nowMs: number): boolean {
    if (this.#kept.ageMs === null) return false
    if (this.#walked === 0 && nowMs - this.#walkEndedAt < SWEEP_EVERY_MS) return false
    const rows = this.#journal.all(
      'SELECT agent, seq FROM agents WHERE agent > ? ORDER BY agent LIMIT ?',
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
    const since = this.#kept.ageMs === null ? 0 : nowMs - this.#kept.ageMs
    let last = 0
    let freed = 0
    const rows = this.#journal.sizes(key, until)
    for (const { seq, at, size } of rows) {
      if (at >= since && freed >= bytes) break
      last = seq
      freed += size
    }
    // The newest checkpoint that all of the dropped are behind.
    const base = last === 0 ? undefined : this.#journal.memories.checkpointBefore(key, last)
    if (base !== undefined) this.#journal.dropHistory(key, base)
  }
}
