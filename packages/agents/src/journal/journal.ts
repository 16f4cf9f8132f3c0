// The tables of the agents: rows in, rows out, and the one transaction in which a step is committed, in SQLite
// or in a store that gates share. Rows are cached: this thread is the only one that writes them, as far as the
// families are its own. Knows SQL and the rows, not what they mean. Owned by the step thread.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { Summary } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import {
  HISTORY_PAGE_LENGTH,
  HISTORY_PAGE_MAX,
  NONCE_EVENTS_MAX,
  ROWS_KEPT_MAX,
} from '../shared/limits.ts'
import { CheckpointStore } from './checkpoint-store.ts'
import { type AgentUpdate, commitStep, type StepTables } from './commit-step.ts'
import { type AgentDatabase, type JournalPlace, openAgentDatabase, type Value } from './database.ts'
import type { AppendReply, EventJournal, Fence, JournalEntry } from './event-journal.ts'
import type { HostUsage } from './family-limits.ts'
import type { TakenLease } from './leases.ts'
import { UsageTable } from './model-usage.ts'
import { type NewAgent, newFamily, rowOf, rowsOf, type SharedAgentFields } from './new-rows.ts'
import { OpenWork } from './open-work.ts'
import { readAgent, readEvent, readFamily, type SqlRow } from './read-rows.ts'
import { keepRemovedFamily } from './removed-families.ts'
import type { AgentPageQuery, AgentRow, EventRow, FamilyRow } from './rows.ts'
import { Schedules } from './schedules.ts'

const AGENT_PAGE = `SELECT * FROM agents WHERE owner = $1 AND agent > $2
  AND (CAST($3 AS TEXT) IS NULL OR state = $3) AND (CAST($4 AS BIGINT) IS NULL OR family = $4)
  ORDER BY agent LIMIT $5`

const INSERT_AGENT = `INSERT INTO agents (agent, id, owner, family, depth, image, created_at, seq, asked,
  model, price, template, grants, state, summary, wake_at, journal_bytes)`
/** The SQL types of the columns from `owner` to `wake_at`. */
const TYPES = 'text bigint int text bigint bigint text text text text text text text bigint'.split(
  ' ',
)
const INSERT_FAMILY = `INSERT INTO families (family, members, owner, limits, price, labels)
  VALUES ($1, 1, $2, $3, $4, $5)`
/** The first event of forks. The text is the one that JSON.stringify makes of it: a replay compares bytes. A parameter that
 * stands beside a column has its type in PostgreSQL. */
const APPEND_FORKED = `INSERT INTO events (agent, seq, at, kind, turn, event, answer)
  SELECT agent, 1, CAST($1 AS BIGINT), 'forked', CAST($2 AS BIGINT),
    '{"kind":"forked","at":' || CAST($1 AS BIGINT) || ',"id":"' || id || '","seed":"' || id || '"}',
    coalesce($3, (SELECT answer FROM events WHERE 1 = 0))
  FROM agents WHERE agent >= $4 AND agent <= $5 ORDER BY agent`

export class Journal implements EventJournal, StepTables {
  readonly memories: CheckpointStore
  readonly work: OpenWork
  readonly usage: UsageTable
  readonly schedules: Schedules
  readonly database: AgentDatabase
  readonly #counts = new Map<string, number>()
  readonly #agents = new LruMap<string, AgentRow>(ROWS_KEPT_MAX)
  readonly #families = new LruMap<number, FamilyRow>(ROWS_KEPT_MAX)

  constructor(place: JournalPlace) {
    this.database = openAgentDatabase(place, () => this.#forget())
    this.memories = new CheckpointStore(this.database)
    this.work = new OpenWork(this.database)
    this.usage = new UsageTable(this.database)
    this.schedules = new Schedules(this.database)
  }

  close(): void {
    this.database.close()
  }

  tidy(): void {
    this.database.tidy()
  }

  transact<Result>(work: () => Result): Result {
    return this.database.transact(work)
  }

  run(sql: string, ...values: Value[]): void {
    this.database.run(sql, ...values)
  }

  get(sql: string, ...values: Value[]): SqlRow | undefined {
    return this.database.get(sql, ...values)
  }

  all(sql: string, ...values: Value[]): SqlRow[] {
    return this.database.all(sql, ...values)
  }

  /** Whether this process runs the family. */
  isOwn(family: number): boolean {
    return this.database.leases?.has(family) ?? true
  }

  /** Renews the lease of this gate and takes over agents whose gate is gone; see leases.ts. */
  takeOver(nowMs: number): TakenLease {
    const taken = this.database.leases?.takeOver(nowMs) ?? { wasFenced: false, agents: [] }
    // Another gate may have made or removed agents.
    this.#counts.clear()
    if (taken.wasFenced) this.#forget()
    return taken
  }

  /** After a rollback: the cached rows may have what was not committed. */
  #forget(): void {
    this.#agents.clear()
    this.#families.clear()
    this.#counts.clear()
    this.work.forget()
  }

  /** The row is read again when it is needed next. */
  forgetRow(id: string): void {
    this.#agents.delete(id)
  }

  /** Inserts an agent together with its first event. The caller has begun the transaction. */
  insertAgent(agent: NewAgent, summary: Summary, event: EventRow): AgentRow {
    const { id, ...about } = agent
    const { seq } = event
    const family = agent.family ?? this.#insertFamily(agent)
    if (agent.family !== undefined) {
      this.#join(agent.family, 1, agent.continues)
      this.addLabels(agent.family, agent.labels ?? [])
    }
    this.#count(agent.owner, 1)
    const key = this.database.nextKeys(1)
    this.run(
      `${INSERT_AGENT} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
      key,
      id,
      ...columnsOf({ ...about, family }, summary, seq),
      sizeOf(event),
    )
    this.insertEvent(key, event, null)
    const row = { key, id, ...rowOf({ ...about, family }, summary, seq) }
    this.#agents.set(id, row)
    return row
  }

  /** Agents that differ by their id only, in one statement: a fork makes many at once. */
  insertAlike(
    about: SharedAgentFields,
    summary: Summary,
    seq: number,
    ids: readonly string[],
  ): AgentRow[] {
    this.#join(about.family, ids.length)
    this.#count(about.owner, ids.length)
    const first = this.database.nextKeys(ids.length)
    const forks = ids.flatMap((id, at) => [first + at, id])
    this.run(insertAlike(ids.length), ...forks, ...columnsOf(about, summary, seq))
    return rowsOf(rowOf(about, summary, seq), first, ids)
  }

  #insertFamily(agent: NewAgent): number {
    const { owner, limits, price, labels = [] } = agent
    const { leases } = this.database
    const family = this.database.nextKeys(1)
    const texts = [limits, price, labels].map((value) => JSON.stringify(value))
    this.run(INSERT_FAMILY, family, owner, ...texts)
    if (leases !== undefined)
      this.run('UPDATE families SET lease = $1 WHERE family = $2', leases.lease, family)
    leases?.add(family)
    this.#families.set(family, newFamily(agent))
    return family
  }

  #join(family: number, members: number, continues = false): void {
    if (this.database.leases?.acquireFamily(family) === false)
      throw new AgentError('AGENT_BUSY', 'the family runs at another gate: try again when it rests')
    // A family whose last member was removed meanwhile is joined only by an export of that family.
    if (this.family(family).members === 0 && !continues)
      throw new AgentError('AGENT_NOT_FOUND', 'the last agent of the family was removed meanwhile')
    const sql = 'UPDATE families SET members = members + $1, removed_at = NULL WHERE family = $2'
    this.run(sql, members, family)
    this.#families.delete(family)
  }

  #count(owner: string, more: number): void {
    const count = this.#counts.get(owner)
    if (count !== undefined) this.#counts.set(owner, count + more)
  }

  agent(id: string): AgentRow | undefined {
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    const row = this.get('SELECT * FROM agents WHERE id = $1', id)
    if (row === undefined) return undefined
    const agent = readAgent(row)
    // Another gate changes the rows of its families without this one being told.
    if (this.isOwn(agent.family)) this.#agents.set(id, agent)
    return agent
  }

  agents(owner: string, { state, after, limit, family }: AgentPageQuery): AgentRow[] {
    return this.all(AGENT_PAGE, owner, after, state, family, limit).map(readAgent)
  }

  /** Counted once and then cached: counting rows would make a create slower with each agent. */
  countAgents(owner: string): number {
    let count = this.#counts.get(owner)
    if (count === undefined) {
      count = Number(this.get('SELECT count(*) AS n FROM agents WHERE owner = $1', owner)?.n)
      this.#counts.set(owner, count)
    }
    return count
  }

  family(family: number): FamilyRow {
    const known = this.#families.get(family)
    if (known !== undefined) return known
    const row = readFamily(this.get('SELECT * FROM families WHERE family = $1', family) ?? {})
    if (this.isOwn(family)) this.#families.set(family, row)
    return row
  }

  setFamily(family: number, row: FamilyRow): void {
    const { turns, tokens, costMicros, calls, limits } = row
    this.run(
      'UPDATE families SET turns = $1, tokens = $2, cost_micros = $3, calls = $4, limits = $5 WHERE family = $6',
      turns,
      tokens,
      costMicros,
      calls,
      JSON.stringify(limits),
      family,
    )
    this.#families.set(family, row)
  }

  /** Labels of a family are never removed. */
  addLabels(family: number, labels: readonly string[]): FamilyRow {
    const before = this.family(family)
    const all = [...new Set([...before.labels, ...labels])]
    if (all.length === before.labels.length) return before
    const after = { ...before, labels: all }
    this.run('UPDATE families SET labels = $1 WHERE family = $2', JSON.stringify(all), family)
    this.#families.set(family, after)
    return after
  }

  async append(fence: Fence, entries: readonly JournalEntry[]): Promise<AppendReply> {
    return this.transact(() => {
      const { seq } = this.agent(fence.agent.id) ?? {}
      if (seq !== fence.agent.seq) return { status: 'fenced', seq }
      let { agent } = fence
      for (const entry of entries) agent = commitStep(this, { agent }, entry)
      return { status: 'appended', agent, ...this.getUsage(agent) }
    })
  }

  /** What the host counts of an agent and its family. */
  getUsage({ key, family, summary }: AgentRow): HostUsage {
    return { family: this.family(family), runStartedAt: this.work.runStartedAt(key, summary.runId) }
  }

  /** One event; `setAgent` counts it. */
  insertEvent(key: number, event: EventRow, nonce: string | null): void {
    this.run(
      'INSERT INTO events (agent, seq, at, kind, turn, event, bytes, answer, nonce) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)',
      key,
      event.seq,
      event.at,
      event.kind,
      event.turn,
      event.event,
      event.bytes,
      event.answer,
      nonce,
    )
  }

  journalBytes(key: number): number {
    return Number(this.get('SELECT journal_bytes AS n FROM agents WHERE agent = $1', key)?.n ?? 0)
  }

  /** The first event that is still stored. */
  historyStart({ key, seq }: AgentRow): number {
    const row = this.get('SELECT min(seq) AS seq FROM events WHERE agent = $1', key)
    return typeof row?.seq === 'number' ? row.seq : seq + 1
  }

  /** The first event of forks, which differ in their id only. */
  appendForked(
    [first, last]: readonly [number, number],
    atMs: number,
    turn: number,
    answer: Uint8Array,
  ): void {
    this.run(APPEND_FORKED, atMs, turn, answer, first, last)
  }

  /** The agent after an event. */
  setAgent(
    agent: AgentRow,
    event: Pick<EventRow, 'seq' | 'event' | 'bytes'>,
    { summary, hostStop, image = agent.image }: AgentUpdate,
  ): AgentRow {
    const { seq } = event
    const { pausedAt } = agent
    const isStopped = hostStop !== null || summary.stop !== null
    const state: AgentRow['state'] = isStopped
      ? 'stopped'
      : pausedAt === null
        ? summary.state
        : 'paused'
    this.run(
      `UPDATE agents SET seq = $1, state = $2, summary = $3, wake_at = $4, host_stop = $5, image = $6,
       paused_at = $7, journal_bytes = journal_bytes + $8 WHERE agent = $9`,
      seq,
      state,
      JSON.stringify(summary),
      hostStop === null ? summary.wakeAt : null,
      hostStop && JSON.stringify(hostStop),
      image,
      pausedAt,
      sizeOf(event),
      agent.key,
    )
    const after = { ...agent, seq, state, summary, hostStop, image }
    this.#agents.set(agent.id, after)
    return after
  }

  events(key: number, after: number, until: number): EventRow[] {
    return this.all(
      'SELECT * FROM events WHERE agent = $1 AND seq > $2 AND seq <= $3 ORDER BY seq',
      key,
      after,
      until,
    ).map(readEvent)
  }

  /** The last event of the page that begins at `from`; a page has at least one. */
  pageEnd(key: number, from: number, until: number): number {
    const rows = this.all(
      `SELECT seq, length(event) AS length FROM events
       WHERE agent = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4`,
      key,
      from,
      until,
      HISTORY_PAGE_MAX,
    )
    let left = HISTORY_PAGE_LENGTH
    let end = from
    for (const { seq, length } of rows) {
      left -= Number(length)
      if (left < 0 && Number(seq) > from) break
      end = Number(seq)
    }
    return end
  }

  /** The event that was committed with this nonce, if one was. */
  seqOf(key: number, nonce: string): number | undefined {
    const row = this.get(
      `SELECT seq FROM (SELECT seq, nonce FROM events WHERE agent = $1 ORDER BY seq DESC LIMIT $2) AS newest
       WHERE nonce = $3 LIMIT 1`,
      key,
      NONCE_EVENTS_MAX,
      nonce,
    )
    return row === undefined ? undefined : Number(row.seq)
  }

  /** The last event after which the agent had made this many turns. */
  seqOfTurn(key: number, turn: number): number | undefined {
    // Also without the prompt that came then: a fork begins before it.
    const row = this.get(
      "SELECT max(seq) AS seq FROM events WHERE agent = $1 AND turn = $2 AND kind <> 'prompt'",
      key,
      turn,
    )
    return row?.seq === null || row?.seq === undefined ? undefined : Number(row.seq)
  }

  /** Everything of an agent; its memories unless a fork shares them. */
  remove({ key, id, family, owner }: AgentRow, nowMs: number): void {
    this.#counts.delete(owner)
    this.#agents.delete(id)
    this.#families.delete(family)
    for (const table of ['events', 'runs', 'effects', 'program_events', 'schedules', 'agents'])
      this.run(`DELETE FROM ${table} WHERE agent = $1`, key)
    this.memories.drop(key, 0, Number.MAX_SAFE_INTEGER)
    this.run('UPDATE families SET members = members - 1 WHERE family = $1', family)
    keepRemovedFamily((...statement) => this.run(...statement), family, owner, nowMs)
  }
}

/** Agents that differ by their id only: pairs of key and id, then the columns. Parameters in the list of a SELECT have
 * no type in PostgreSQL unless they are given one. */
function insertAlike(count: number): string {
  const forks = Array.from(
    { length: count },
    (_, at) => `(CAST($${2 * at + 1} AS BIGINT), CAST($${2 * at + 2} AS TEXT))`,
  )
  const columns = TYPES.map((type, at) => `CAST($${2 * count + at + 1} AS ${type})`)
  return `WITH forks(agent, id) AS (VALUES ${forks.join()})
    ${INSERT_AGENT} SELECT agent, id, ${columns.join()}, 0 FROM forks`
}

function columnsOf(about: SharedAgentFields, summary: Summary, seq: number): Value[] {
  const { owner, family, depth, image, createdAt, asked, model, price, template, grants } = about
  const { state, wakeAt } = summary
  const asking = [JSON.stringify(asked), model, JSON.stringify(price)]
  const texts = [...asking, template, JSON.stringify(grants), state]
  return [owner, family, depth, image, createdAt, seq, ...texts, JSON.stringify(summary), wakeAt]
}

/** Text in characters: an estimate, for how much history is kept. */
function sizeOf({ event, bytes }: Pick<EventRow, 'event' | 'bytes'>): number {
  return event.length + (bytes?.length ?? 0)
}
