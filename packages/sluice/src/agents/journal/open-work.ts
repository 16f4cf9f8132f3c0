// Runs, effects and programs of agents in agents.db: what an agent has under way, and what a crash leaves
// open. Rows in, rows out; commit-step.ts says which. Owned by the journal.

import type { Effect, RunEnd } from '../../guest/protocol.ts'
import type { InsertedRun, OpenWorkTables } from './commit-step.ts'
import type { AgentDatabase } from './database.ts'
import { toRun } from './read-rows.ts'
import type { EffectRow, RunRow } from './rows.ts'

const RUN = 'WHERE agent = ? AND run = ?'
const EFFECT = 'WHERE agent = ? AND effect = ?'
/** Runs have no body. */
const OPEN_WORK = `SELECT run, request, started_at, CAST(NULL AS TEXT) AS body
  FROM runs WHERE agent = ? AND result IS NULL
  UNION ALL SELECT NULL, NULL, started_at, body FROM effects WHERE agent = ?`

export interface OpenAgentWork {
  readonly runs: readonly InsertedRun[]
  readonly effects: readonly Effect[]
  /** An effect was sent and has no result yet. */
  readonly isSent: boolean
}

export class OpenWork implements OpenWorkTables {
  readonly #database: AgentDatabase

  constructor(database: AgentDatabase) {
    this.#database = database
  }

  insertRun(key: number, { runId, request, startedAt }: InsertedRun): void {
    const sql = 'INSERT INTO runs (agent, run, request, started_at) VALUES (?, ?, ?, ?)'
    this.#database.run(sql, key, runId, request, startedAt)
  }

  endRun(key: number, end: RunEnd): void {
    this.#database.run(`UPDATE runs SET result = ? ${RUN}`, JSON.stringify(end), key, end.runId)
  }

  startRun(key: number, runId: string, startedAt: number): void {
    const sql = `UPDATE runs SET started_at = ? ${RUN} AND started_at = 0`
    this.#database.run(sql, startedAt, key, runId)
  }

  stopClock(key: number, runId: string | null, atMs: number): void {
    const stopped = 'CASE WHEN started_at >= ? THEN -1 ELSE started_at - ? END'
    const sql = `UPDATE runs SET started_at = ${stopped} ${RUN} AND started_at > 0`
    this.#database.run(sql, atMs, atMs, key, runId)
  }

  continueClock(key: number, runId: string | null, atMs: number): void {
    const going = 'CASE WHEN ? + started_at < 1 THEN 1 ELSE ? + started_at END'
    const sql = `UPDATE runs SET started_at = ${going} ${RUN} AND started_at < 0`
    this.#database.run(sql, atMs, atMs, key, runId)
  }

  runStartedAt(key: number, runId: string | null): number | null {
    if (runId === null) return null
    const row = this.#database.get(`SELECT started_at FROM runs ${RUN}`, key, runId)
    return row === undefined || Number(row.started_at) <= 0 ? null : Number(row.started_at)
  }

  /** The run of this id, or the newest: run ids sort by their time. */
  findRun(key: number, runId: string | null): RunRow | undefined {
    const sql =
      'SELECT * FROM runs WHERE agent = ? AND (CAST(? AS TEXT) IS NULL OR run = ?) ORDER BY run DESC LIMIT 1'
    const row = this.#database.get(sql, key, runId, runId)
    return row && toRun(row)
  }

  /** What an agent has under way: runs without a result, and effects without one. */
  openWork(key: number): OpenAgentWork {
    const rows = this.#database.all(OPEN_WORK, key, key)
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
    const sql = 'SELECT * FROM runs WHERE agent = ? AND request = ?'
    const row = this.#database.get(sql, key, request)
    return row && toRun(row)
  }

  insertEffect(key: number, effect: Effect): void {
    this.#database.run(
      'INSERT INTO effects (agent, effect, kind, body) VALUES (?, ?, ?, ?)',
      key,
      effect.id,
      effect.kind,
      // The conversation is the guest's; only what is needed to begin again is stored.
      JSON.stringify(effect.kind === 'model' ? { ...effect, messages: [] } : effect),
    )
  }

  removeEffect(key: number, effectId: string): void {
    this.#database.run(`DELETE FROM effects ${EFFECT}`, key, effectId)
    this.#database.run(`DELETE FROM program_events ${EFFECT}`, key, effectId)
  }

  removeEffects(key: number): void {
    this.#database.run('DELETE FROM effects WHERE agent = ?', key)
  }

  effectKind(key: number, effectId: string): Effect['kind'] | undefined {
    const row = this.#database.get(`SELECT kind FROM effects ${EFFECT}`, key, effectId)
    return row?.kind as Effect['kind'] | undefined
  }

  /** Sets one column of an open effect; false if it is not open. */
  markEffect(
    key: number,
    effectId: string,
    mark: { startedAt: number } | { ticket: string },
  ): boolean {
    const isOpen = this.effectKind(key, effectId) !== undefined
    if ('ticket' in mark)
      this.#database.run(`UPDATE effects SET ticket = ? ${EFFECT}`, mark.ticket, key, effectId)
    else
      this.#database.run(
        `UPDATE effects SET started_at = ? ${EFFECT}`,
        mark.startedAt,
        key,
        effectId,
      )
    return isOpen
  }

  /** Effects of own agents that have no result, as after a crash. */
  openEffects(): EffectRow[] {
    const { own } = this.#database
    return this.#database
      .all(
        `SELECT a.id, e.effect, e.kind, e.body, e.started_at, e.ticket
         FROM effects e JOIN agents a ON a.agent = e.agent WHERE ${own} ORDER BY e.agent, e.effect`,
      )
      .map((row) => ({
        agent: String(row.id),
        id: String(row.effect),
        kind: row.kind as EffectRow['kind'],
        body: String(row.body),
        startedAt: row.started_at === null ? null : Number(row.started_at),
        ticket: row.ticket === null ? null : String(row.ticket),
      }))
  }

  appendProgramEvent(key: number, effectId: string, seq: number, event: string): void {
    const sql = 'INSERT INTO program_events (agent, effect, seq, event) VALUES (?, ?, ?, ?)'
    this.#database.run(sql, key, effectId, seq, event)
  }

  programEvents(key: number, effectId: string): string[] {
    const sql = `SELECT event FROM program_events ${EFFECT} ORDER BY seq`
    return this.#database.all(sql, key, effectId).map(({ event }) => String(event))
  }
}
