// The schedules of agents in the journal's database: prompts that come at a time or with a webhook. Rows in, rows
// out; service/schedules.ts says when one is due and prompts. Owned by the journal.

import { AgentError } from '../shared/errors.ts'
import { SCHEDULES_PER_AGENT_MAX, SCHEDULES_PER_OWNER_MAX } from '../shared/limits.ts'
import type { PromptWriter } from '../shared/prompt-writer.ts'
import type { AgentDatabase } from './database.ts'
import type { SqlRow } from './read-rows.ts'
import type { SchedulePlan } from './schedule-plan.ts'

/** What became of a schedule the last time. */
export interface LastPrompt {
  readonly atMs: number
  /** The time that it was for; null for a webhook. */
  readonly dueMs: number | null
  /** The run that was begun, then or before: one that has not ended lets the next time be skipped. */
  readonly runId: string | null
  /** Why no run was begun: a code and a sentence. Null if one was. */
  readonly refused: string | null
}

export interface NewSchedule {
  readonly name: string
  readonly plan: SchedulePlan
  /** The prompt. */
  readonly input: string
  /** Who wrote it. */
  readonly writer: PromptWriter
  readonly nextMs: number | null
}

export interface ScheduleRow extends NewSchedule {
  readonly agent: string
  readonly owner: string
  readonly last: LastPrompt | null
}

/** What came of a due time or a webhook. */
export interface ScheduleStep {
  /** The time that it was; null for a webhook. */
  readonly dueMs: number | null
  readonly nextMs: number | null
  readonly last: LastPrompt
}

const SELECT = `SELECT s.*, a.id, a.owner FROM schedules s JOIN agents a ON a.agent = s.agent`

export class Schedules {
  readonly #database: AgentDatabase

  constructor(database: AgentDatabase) {
    this.#database = database
  }

  /** One of the same name is replaced, with what became of it. */
  put(key: number, owner: string, { name, plan, input, writer, nextMs }: NewSchedule): void {
    const database = this.#database
    database.transact(() => {
      database.lockSettings()
      const others = database.get(
        `SELECT count(*) AS owners, count(CASE WHEN s.agent = $1 THEN 1 END) AS agents
         FROM schedules s JOIN agents a ON a.agent = s.agent
         WHERE a.owner = $2 AND NOT (s.agent = $1 AND s.name = $3)`,
        key,
        owner,
        name,
      )
      if (Number(others?.agents) >= SCHEDULES_PER_AGENT_MAX)
        throw new AgentError(
          'AGENT_LIMIT',
          `an agent has at most ${SCHEDULES_PER_AGENT_MAX} schedules`,
        )
      if (Number(others?.owners) >= SCHEDULES_PER_OWNER_MAX)
        throw new AgentError(
          'AGENT_LIMIT',
          `all agents of an owner have at most ${SCHEDULES_PER_OWNER_MAX} schedules together`,
        )
      database.run(
        `INSERT INTO schedules (agent, name, plan, input, writer, next_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (agent, name) DO UPDATE SET plan = excluded.plan, input = excluded.input,
           writer = excluded.writer, next_at = excluded.next_at, last = NULL`,
        key,
        name,
        JSON.stringify(plan),
        input,
        JSON.stringify(writer),
        nextMs,
      )
    })
  }

  /** False if there was none. */
  remove(key: number, name: string): boolean {
    const place = 'WHERE agent = $1 AND name = $2'
    const found = this.#database.get(`SELECT 1 FROM schedules ${place}`, key, name)
    this.#database.run(`DELETE FROM schedules ${place}`, key, name)
    return found !== undefined
  }

  find(id: string, name: string): ScheduleRow | undefined {
    const row = this.#database.get(`${SELECT} WHERE a.id = $1 AND s.name = $2`, id, name)
    return row && toSchedule(row)
  }

  /** The schedules of all agents of an owner, or of a family. */
  list(owner: string, family: number | null): ScheduleRow[] {
    const sql = `${SELECT} WHERE a.owner = $1 AND (CAST($2 AS BIGINT) IS NULL OR a.family = $2)
      ORDER BY a.agent, s.name`
    return this.#database.all(sql, owner, family).map(toSchedule)
  }

  /** The due schedules of the agents that this process runs, the oldest first. */
  due(untilMs: number, max: number): ScheduleRow[] {
    const sql = `${SELECT} WHERE s.next_at <= $1 AND ${this.#database.own}
      ORDER BY s.next_at LIMIT $2`
    return this.#database.all(sql, untilMs, max).map(toSchedule)
  }

  /** Compare and set: nothing changes if the schedule has moved on, or is another by now. */
  advance(key: number, name: string, { dueMs, nextMs, last }: ScheduleStep): void {
    this.#database.run(
      `UPDATE schedules SET next_at = $4, last = $5
       WHERE agent = $1 AND name = $2 AND next_at IS NOT DISTINCT FROM CAST($3 AS BIGINT)`,
      key,
      name,
      dueMs,
      nextMs,
      JSON.stringify(last),
    )
  }

  nextAfter(afterMs: number): number | null {
    const row = this.#database.get(
      `SELECT min(s.next_at) AS at FROM schedules s JOIN agents a ON a.agent = s.agent
       WHERE s.next_at > $1 AND ${this.#database.own}`,
      afterMs,
    )
    return row?.at === null || row?.at === undefined ? null : Number(row.at)
  }
}

function toSchedule(row: SqlRow): ScheduleRow {
  return {
    agent: String(row.id),
    owner: String(row.owner),
    name: String(row.name),
    plan: JSON.parse(String(row.plan)) as SchedulePlan,
    input: String(row.input),
    writer: JSON.parse(String(row.writer)) as PromptWriter,
    nextMs: row.next_at === null ? null : Number(row.next_at),
    last: row.last === null ? null : (JSON.parse(String(row.last)) as LastPrompt),
  }
}
