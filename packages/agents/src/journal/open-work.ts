// Runs, effects and programs of agents in agents.db: what an agent has under way, and what a crash leaves
// open. Rows in, rows out; commit-step.ts says which. Owned by the journal.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { Effect, RunEnd } from '../guest/protocol.ts'
import { ROWS_KEPT_MAX } from '../shared/limits.ts'
import type { InsertedRun, OpenWorkTables } from './commit-step.ts'
import type { AgentDatabase } from './database.ts'
import { readEffect, readRun } from './read-rows.ts'
import type { EffectRow, RunRow } from './rows.ts'

const RUN = 'WHERE agent = $1 AND run = $2'
const EFFECT = 'WHERE agent = $1 AND effect = $2'
/** Runs have no body. */
const OPEN_WORK = `SELECT run, request, started_at, CAST(NULL AS TEXT) AS body
  FROM runs WHERE agent = $1 AND result IS NULL
  UNION ALL SELECT NULL, NULL, started_at, body FROM effects WHERE agent = $1`

/** What an agent has under way. */
export interface OpenAgentWork {
  /** Runs without a result. */
  readonly runs: readonly {
    readonly runId: string
    /** The id of the client's request; null if it gave none. */
    readonly request: string | null
    readonly startedAt: number
  }[]
  /** Effects without a result. */
  readonly effects: readonly Effect[]
  /** An effect was sent and has no result yet. */
  readonly isSent: boolean
}

export class OpenWork implements OpenWorkTables {
  readonly #database: AgentDatabase
  /** When runs began, as in their rows. */
  readonly #starts = new LruMap<string, number>(ROWS_KEPT_MAX)
  /** The kinds of all open effects of an agent, by their ids. */
  readonly #kinds = new LruMap<number, Map<string, Effect['kind']>>(ROWS_KEPT_MAX)

  constructor(database: AgentDatabase) {
    this.#database = database
  }

  /** After a rollback, and after another gate may have written. */
  forget(): void {
    this.#starts.clear()
    this.#kinds.clear()
  }

  insertRun(key: number, { runId, request, startedAt }: InsertedRun): void {
    const sql = 'INSERT INTO runs (agent, run, request, started_at) VALUES ($1, $2, $3, $4)'
    this.#database.run(sql, key, runId, request, startedAt)
    this.#starts.set(`${key} ${runId}`, startedAt)
  }

  endRun(key: number, end: RunEnd): void {
    this.#database.run(`UPDATE runs SET result = $3 ${RUN}`, key, end.runId, JSON.stringify(end))
  }

  startRun(key: number, runId: string, startedAt: number): void {
    if (this.#startOf(key, runId) === 0) this.#setStart(key, runId, startedAt)
  }

  stopClock(key: number, runId: string | null, atMs: number): void {
    const startedAt = this.#startOf(key, runId)
    if (startedAt > 0) this.#setStart(key, runId, Math.min(-1, startedAt - atMs))
  }

  continueClock(key: number, runId: string | null, atMs: number): void {
    const startedAt = this.#startOf(key, runId)
    if (startedAt < 0) this.#setStart(key, runId, Math.max(1, atMs + startedAt))
  }

  runStartedAt(key: number, runId: string | null): number | null {
    const startedAt = this.#startOf(key, runId)
    return startedAt > 0 ? startedAt : null
  }

  /** When the run began, as its row says; NaN if no run has this id. */
  #startOf(key: number, runId: string | null): number {
    if (runId === null) return Number.NaN
    const known = this.#starts.get(`${key} ${runId}`)
    if (known !== undefined) return known
    const row = this.#database.get(`SELECT started_at FROM runs ${RUN}`, key, runId)
    if (row === undefined) return Number.NaN
    this.#starts.set(`${key} ${runId}`, Number(row.started_at))
    return Number(row.started_at)
  }

  #setStart(key: number, runId: string | null, startedAt: number): void {
    this.#database.run(`UPDATE runs SET started_at = $3 ${RUN}`, key, runId, startedAt)
    this.#starts.set(`${key} ${runId}`, startedAt)
  }

  /** The run of this id, or the newest: run ids sort by their time. */
  findRun(key: number, runId: string | null): RunRow | undefined {
    const sql =
      'SELECT * FROM runs WHERE agent = $1 AND (CAST($2 AS TEXT) IS NULL OR run = $2) ORDER BY run DESC LIMIT 1'
    const row = this.#database.get(sql, key, runId)
    return row && readRun(row)
  }

  openWork(key: number): OpenAgentWork {
    const rows = this.#database.all(OPEN_WORK, key)
    const effects = rows.filter(({ body }) => body !== null)
    const runs = rows.filter(({ body }) => body === null)
    return {
      runs: runs.map(({ run, request, started_at }) => ({
        runId: String(run),
        request: request === null ? null : String(request),
        startedAt: Number(started_at),
      })),
      effects: effects.map(({ body }) => JSON.parse(String(body)) as Effect),
      isSent: effects.some(({ started_at }) => started_at !== null),
    }
  }

  findRunByRequest(key: number, request: string): RunRow | undefined {
    const sql = 'SELECT * FROM runs WHERE agent = $1 AND request = $2'
    const row = this.#database.get(sql, key, request)
    return row && readRun(row)
  }

  insertEffect(key: number, effect: Effect): void {
    this.#database.run(
      'INSERT INTO effects (agent, effect, kind, body) VALUES ($1, $2, $3, $4)',
      key,
      effect.id,
      effect.kind,
      // The conversation is the guest's; only what is needed to begin again is stored.
      JSON.stringify(effect.kind === 'model' ? { ...effect, messages: [] } : effect),
    )
    this.#kinds.get(key)?.set(effect.id, effect.kind)
  }

  removeEffect(key: number, effectId: string): void {
    this.#database.run(`DELETE FROM effects ${EFFECT}`, key, effectId)
    this.#database.run(`DELETE FROM program_events ${EFFECT}`, key, effectId)
    this.#kinds.get(key)?.delete(effectId)
  }

  removeEffects(key: number): void {
    this.#database.run('DELETE FROM effects WHERE agent = $1', key)
    this.#kinds.delete(key)
  }

  effectKind(key: number, effectId: string): Effect['kind'] | undefined {
    let kinds = this.#kinds.get(key)
    if (kinds === undefined) {
      const rows = this.#database.all('SELECT effect, kind FROM effects WHERE agent = $1', key)
      kinds = new Map(rows.map((row) => [String(row.effect), row.kind as Effect['kind']]))
      this.#kinds.set(key, kinds)
    }
    return kinds.get(effectId)
  }

  /** Sets one column of an open effect; false if it is not open. */
  markEffect(
    key: number,
    effectId: string,
    mark: { startedAt: number } | { ticket: string },
  ): boolean {
    if (this.effectKind(key, effectId) === undefined) return false
    const [set, value] = 'ticket' in mark ? ['ticket', mark.ticket] : ['started_at', mark.startedAt]
    this.#database.run(`UPDATE effects SET ${set} = $3 ${EFFECT}`, key, effectId, value)
    return true
  }

  /** Effects of own agents that have no result, as after a crash. */
  openEffects(): EffectRow[] {
    const { own } = this.#database
    return this.#database
      .all(
        `SELECT a.id, e.effect, e.kind, e.body, e.started_at, e.ticket
         FROM effects e JOIN agents a ON a.agent = e.agent WHERE ${own} ORDER BY e.agent, e.effect`,
      )
      .map(readEffect)
  }

  /** Appends the events of one commit as one row. */
  appendProgramEvents(key: number, effectId: string, seq: number, events: string): void {
    const sql = 'INSERT INTO program_events (agent, effect, seq, event) VALUES ($1, $2, $3, $4)'
    this.#database.run(sql, key, effectId, seq, events)
  }

  programEvents(key: number, effectId: string): string[] {
    const sql = `SELECT event FROM program_events ${EFFECT} ORDER BY seq`
    return this.#database.all(sql, key, effectId).map(({ event }) => String(event))
  }
}
