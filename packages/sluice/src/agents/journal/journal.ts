// The tables of the agents: rows in, rows out, and the one transaction in which a step is committed.
// Rows that were read or written are kept, as this thread is the only one to write them. Knows SQL
// and the rows, not what they mean. Owned by the step thread.

import type { DatabaseSync } from 'node:sqlite'
import { LruMap } from '../../core/lru-map.ts'
import type { Summary } from '../../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import {
  HISTORY_PAGE_LENGTH,
  HISTORY_PAGE_MAX,
  NONCE_EVENTS_MAX,
  ROWS_KEPT_MAX,
} from '../shared/limits.ts'
import { CheckpointStore } from './checkpoint-store.ts'
import { Database, type Value } from './database.ts'
import { type NewAgent, newFamily, rowOf, rowsOf, type SharedAgentFields } from './new-rows.ts'
import { type SqlRow, toAgent, toFamily } from './read-rows.ts'
import { keepRemovedFamily, LAST_REMOVED } from './removed-families.ts'
import type { AgentPage, AgentRow, EventRow, FamilyRow, HostStop } from './rows.ts'

const SIZES_AT_ONCE = 200

const INSERT_AGENT = `INSERT INTO agents (id, owner, family, depth, image, created_at, seq, asked,
  model, price, template, grants, state, summary, wake_at, journal_bytes)`

export class Journal {
  readonly memories: CheckpointStore
  readonly #database: Database
  readonly #counts = new Map<string, number>()
  readonly #agents = new LruMap<string, AgentRow>(ROWS_KEPT_MAX)
  readonly #families = new LruMap<number, FamilyRow>(ROWS_KEPT_MAX)

  constructor(directory: string) {
    this.#database = new Database(directory, () => this.#forget())
    this.memories = new CheckpointStore(this.#database)
  }

  get database(): DatabaseSync {
    return this.#database.database
  }

  close(): void {
    this.#database.close()
  }

  tidy(): void {
    this.#database.tidy()
  }

  transact<Result>(work: () => Result): Result {
    return this.#database.transact(work)
  }

  run(sql: string, ...values: Value[]): number {
    return this.#database.run(sql, ...values)
  }

  get(sql: string, ...values: Value[]): SqlRow | undefined {
    return this.#database.get(sql, ...values)
  }

  all(sql: string, ...values: Value[]): SqlRow[] {
    return this.#database.all(sql, ...values)
  }

  /** What was not committed is not so. */
  #forget(): void {
    this.#agents.clear()
    this.#families.clear()
    this.#counts.clear()
  }

  /** With its first event, in one transaction with whatever else it begins with. */
  insertAgent(agent: NewAgent, summary: Summary, event: EventRow): AgentRow {
    const { id, ...about } = agent
    const { seq } = event
    const family = agent.family ?? this.#insertFamily(agent)
    if (agent.family !== undefined) {
      this.#join(agent.family, 1, agent.continues)
      this.addLabels(agent.family, agent.labels ?? [])
    }
    this.#count(agent.owner, 1)
    const key = this.run(
      `${INSERT_AGENT} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[id, ...columnsOf({ ...about, family }, summary, seq), sizeOf(event)],
    )
    this.append(key, event, null)
    const row = { key, id, ...rowOf({ ...about, family }, summary, seq) }
    this.#agents.set(id, row)
    return row
  }

  /** Agents that differ by their id only, in one statement: bulk is what forks come in. */
  insertAlike(
    about: SharedAgentFields,
    summary: Summary,
    seq: number,
    ids: readonly string[],
  ): AgentRow[] {
    this.#join(about.family, ids.length)
    this.#count(about.owner, ids.length)
    const last = this.run(
      `${INSERT_AGENT} SELECT value, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0 FROM json_each(?) ORDER BY key`,
      ...columnsOf(about, summary, seq),
      JSON.stringify(ids),
    )
    return rowsOf(rowOf(about, summary, seq), last - ids.length + 1, ids)
  }

  #insertFamily(agent: NewAgent): number {
    const { owner, limits, price, labels = [] } = agent
    const family = this.run(
      `INSERT INTO families (family, members, owner, limits, price, labels)
       VALUES (1 + max(coalesce((SELECT max(family) FROM families), 0), ${LAST_REMOVED}), 1, ?, ?, ?, ?)`,
      owner,
      JSON.stringify(limits),
      JSON.stringify(price),
      JSON.stringify(labels),
    )
    this.#families.set(family, newFamily(agent))
    return family
  }

  #join(family: number, members: number, continues = false): void {
    // One whose last member was removed meanwhile is not joined, except by an export of that family.
    if (this.family(family).members === 0 && !continues)
      throw new AgentError('AGENT_NOT_FOUND', 'the last agent of the family was removed meanwhile')
    const sql = 'UPDATE families SET members = members + ?, removed_at = NULL WHERE family = ?'
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
    const row = this.get('SELECT * FROM agents WHERE id = ?', id)
    if (row === undefined) return undefined
    const agent = toAgent(row)
    this.#agents.set(id, agent)
    return agent
  }

  /** A page as JSON of rows: their texts are JSON already, so nothing is read to be written again. */
  agents(owner: string, { state, after, limit, family }: AgentPage): string {
    const row = this.get(
      `SELECT json_group_array(json_object(
         'key', agent, 'id', id, 'owner', owner, 'family', family, 'depth', depth, 'image', image,
         'createdAt', created_at, 'seq', seq, 'asked', json(asked), 'model', model, 'price', json(price),
         'template', template, 'grants', json(grants), 'state', state, 'summary', json(summary),
         'hostStop', json(host_stop), 'pausedAt', paused_at)) AS page
       FROM (SELECT * FROM agents WHERE owner = ? AND agent > ? AND (? IS NULL OR state = ?)
             AND (? IS NULL OR family = ?) ORDER BY agent LIMIT ?)`,
      owner,
      after,
      ...[state, state, family, family],
      limit,
    )
    return String(row?.page)
  }

  /** Counted once and then kept: counting rows would make a create dearer with each agent. */
  countAgents(owner: string): number {
    let count = this.#counts.get(owner)
    if (count === undefined) {
      count = Number(this.get('SELECT count(*) AS n FROM agents WHERE owner = ?', owner)?.n)
      this.#counts.set(owner, count)
    }
    return count
  }

  family(family: number): FamilyRow {
    const known = this.#families.get(family)
    if (known !== undefined) return known
    const row = toFamily(this.get('SELECT * FROM families WHERE family = ?', family) ?? {})
    this.#families.set(family, row)
    return row
  }

  setFamily(family: number, row: FamilyRow): void {
    const { turns, tokens, costMicros, calls, limits } = row
    this.run(
      'UPDATE families SET turns = ?, tokens = ?, cost_micros = ?, calls = ?, limits = ? WHERE family = ?',
      turns,
      tokens,
      costMicros,
      calls,
      JSON.stringify(limits),
      family,
    )
    this.#families.set(family, row)
  }

  /** What a family has seen it has seen for good. */
  addLabels(family: number, labels: readonly string[]): FamilyRow {
    const before = this.family(family)
    const all = [...new Set([...before.labels, ...labels])]
    if (all.length === before.labels.length) return before
    const after = { ...before, labels: all }
    this.run('UPDATE families SET labels = ? WHERE family = ?', JSON.stringify(all), family)
    this.#families.set(family, after)
    return after
  }

  /** The commit of a step; `setStanding` counts it. */
  append(key: number, event: EventRow, nonce: string | null): void {
    this.run(
      'INSERT INTO events (agent, seq, at, kind, turn, event, bytes, answer, nonce) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
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
    return Number(this.get('SELECT journal_bytes AS n FROM agents WHERE agent = ?', key)?.n ?? 0)
  }

  /** The events up to one, oldest first, by time and size; read as they are asked for. */
  *sizes(key: number, until: number): Generator<{ seq: number; at: number; size: number }> {
    const sql = `SELECT seq, at, octet_length(event) + coalesce(octet_length(bytes), 0) AS size
      FROM events WHERE agent = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
    for (let after = 0; ; ) {
      const rows = this.all(sql, key, after, until, SIZES_AT_ONCE)
      for (const row of rows) yield row as { seq: number; at: number; size: number }
      if (rows.length < SIZES_AT_ONCE) return
      after = Number(rows.at(-1)?.seq)
    }
  }

  /** From where on the history is there. */
  historyStart({ key, seq }: AgentRow): number {
    const row = this.get('SELECT min(seq) AS seq FROM events WHERE agent = ?', key)
    return typeof row?.seq === 'number' ? row.seq : seq + 1
  }

  /** Events until a checkpoint go, and what only they needed; the newest run stays. */
  dropHistory(key: number, base: number): void {
    this.transact(() => {
      const events = 'FROM events WHERE agent = ? AND seq <= ?'
      const size = 'octet_length(event) + coalesce(octet_length(bytes), 0)'
      const gone = this.get(`SELECT sum(${size}) AS n, max(at) AS at ${events}`, key, base)
      if (typeof gone?.at !== 'number') return
      this.run(`DELETE ${events}`, key, base)
      this.memories.drop(key, 0, base - 1)
      this.run(
        `DELETE FROM runs WHERE agent = ? AND result IS NOT NULL AND started_at < ?
         AND run < (SELECT max(run) FROM runs WHERE agent = ?)`,
        key,
        gone.at,
        key,
      )
      const sql = 'UPDATE agents SET journal_bytes = max(0, journal_bytes - ?) WHERE agent = ?'
      this.run(sql, Number(gone.n), key)
    })
  }

  /** The first event of forks, which differ in nothing but their own name. */
  appendForked(
    [first, last]: readonly [number, number],
    atMs: number,
    turn: number,
    answer: Uint8Array,
  ): void {
    this.run(
      `INSERT INTO events (agent, seq, at, kind, turn, event, answer)
       SELECT agent, 1, ?1, 'forked', ?2,
         json_object('kind', 'forked', 'at', ?1, 'id', id, 'seed', id), ?3
       FROM agents WHERE agent >= ?4 AND agent <= ?5 ORDER BY agent`,
      atMs,
      turn,
      answer,
      first,
      last,
    )
  }

  /** The agent after an event. */
  setStanding(
    agent: AgentRow,
    event: Pick<EventRow, 'seq' | 'event' | 'bytes'>,
    summary: Summary,
    hostStop: HostStop | null,
    image = agent.image,
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
      `UPDATE agents SET seq = ?, state = ?, summary = ?, wake_at = ?, host_stop = ?, image = ?,
       paused_at = ?, journal_bytes = journal_bytes + ? WHERE agent = ?`,
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
      'SELECT * FROM events WHERE agent = ? AND seq > ? AND seq <= ? ORDER BY seq',
      key,
      after,
      until,
    ).map((row) => row as unknown as EventRow)
  }

  /** The last event that fits a page which begins at this one; at least one does. */
  pageEnd(key: number, from: number, until: number): number {
    const rows = this.all(
      `SELECT seq, length(event) AS length FROM events
       WHERE agent = ? AND seq >= ? AND seq <= ? ORDER BY seq LIMIT ?`,
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

  /** The event that was committed under this name, if one was. */
  seqOf(key: number, nonce: string): number | undefined {
    const row = this.get(
      `SELECT seq FROM (SELECT seq, nonce FROM events WHERE agent = ? ORDER BY seq DESC LIMIT ?)
       WHERE nonce = ? LIMIT 1`,
      key,
      NONCE_EVENTS_MAX,
      nonce,
    )
    return row === undefined ? undefined : Number(row.seq)
  }

  /** The last event at which the agent had this many turns behind it. */
  seqOfTurn(key: number, turn: number): number | undefined {
    const row = this.get(
      'SELECT max(seq) AS seq FROM events WHERE agent = ? AND turn = ?',
      key,
      turn,
    )
    return row?.seq === null || row?.seq === undefined ? undefined : Number(row.seq)
  }

  /** Everything of an agent; its memories where nobody else has them. */
  remove({ key, id, family, owner }: AgentRow, nowMs: number): void {
    this.#counts.delete(owner)
    this.#agents.delete(id)
    this.#families.delete(family)
    for (const table of ['events', 'runs', 'effects', 'program_events', 'agents'])
      this.run(`DELETE FROM ${table} WHERE agent = ?`, key)
    this.memories.drop(key, 0, Number.MAX_SAFE_INTEGER)
    this.run('UPDATE families SET members = members - 1 WHERE family = ?', family)
    keepRemovedFamily((...given) => this.run(...given), family, owner, nowMs)
  }
}

function columnsOf(about: SharedAgentFields, summary: Summary, seq: number): Value[] {
  const { owner, family, depth, image, createdAt, asked, model, price, template, grants } = about
  const { state, wakeAt } = summary
  const asking = [JSON.stringify(asked), model, JSON.stringify(price)]
  const texts = [...asking, template, JSON.stringify(grants), state]
  return [owner, family, depth, image, createdAt, seq, ...texts, JSON.stringify(summary), wakeAt]
}

/** In characters where it is text: an estimate, for how much history is kept. */
function sizeOf({ event, bytes }: Pick<EventRow, 'event' | 'bytes'>): number {
  return event.length + (bytes?.length ?? 0)
}
