// The database of the agents: rows in, rows out, and the one transaction in which a step is
// committed. Knows SQL and the rows, not what they mean. Owned by the step thread.

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Limits, Price, Summary } from '../guest/words.ts'
import { openDatabase } from '../store/sqlite/open.ts'
import { AgentError } from './errors.ts'
import { HISTORY_PAGE_LENGTH, HISTORY_PAGE_MAX } from './limits.ts'
import type { AgentRow, CheckpointRow, EventRow, FamilyRow, HostStop } from './rows.ts'
import { MIGRATIONS } from './schema.ts'

type Row = Record<string, unknown>
type Value = string | number | null | Uint8Array

export interface NewAgent {
  readonly id: string
  readonly owner: string
  /** Absent: a family of its own. */
  readonly family?: number
  readonly depth: number
  readonly image: string
  readonly createdAt: number
  readonly asked: Readonly<Record<string, unknown>>
  readonly model: string
  readonly template: string | null
  readonly grants: readonly string[]
  readonly limits: Limits
  readonly price: Price | null
}

const MEMORY_BYTES_MAX = 128 * 1_048_576

export class Journal {
  readonly database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #counts = new Map<string, number>()

  constructor(directory: string) {
    this.database = openDatabase({ directory, name: 'agents.db', migrations: MIGRATIONS })
    // One process owns the agents: what it has in memory would not see another's events.
    this.database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT')
  }

  close(): void {
    this.database.close()
  }

  /** All of it or nothing. */
  transact<Result>(work: () => Result): Result {
    if (this.database.isTransaction) return work()
    this.database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK')
      throw error
    }
  }

  run(sql: string, ...values: Value[]): number {
    return Number(this.#prepare(sql).run(...values).lastInsertRowid)
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[]
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** `seq` is how many events it has; they are appended in the same transaction. */
  insertAgent(agent: NewAgent, summary: Summary, seq: number): AgentRow {
    // A transaction that fails after this counts too much, which is tighter, never looser.
    const count = this.#counts.get(agent.owner)
    if (count !== undefined) this.#counts.set(agent.owner, count + 1)
    const family =
      agent.family ??
      this.run(
        'INSERT INTO families (limits, price) VALUES (?, ?)',
        JSON.stringify(agent.limits),
        JSON.stringify(agent.price),
      )
    const key = this.run(
      `INSERT INTO agents (id, owner, family, depth, image, created_at, seq, asked, model, template,
        grants, state, summary, wake_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      agent.id,
      agent.owner,
      family,
      agent.depth,
      agent.image,
      agent.createdAt,
      seq,
      JSON.stringify(agent.asked),
      agent.model,
      agent.template,
      JSON.stringify(agent.grants),
      summary.state,
      JSON.stringify(summary),
      summary.wakeAt,
    )
    const { id, owner, depth, image, createdAt, asked, model, template, grants } = agent
    const known = { id, owner, family, depth, image, createdAt, asked, model, template }
    return { key, ...known, grants, seq, state: summary.state, summary, hostStop: null }
  }

  agent(id: string): AgentRow | undefined {
    const row = this.get('SELECT * FROM agents WHERE id = ?', id)
    return row && toAgent(row)
  }

  agents(owner: string, state: string | null, after: number, limit: number): AgentRow[] {
    return this.all(
      `SELECT * FROM agents WHERE owner = ? AND agent > ? AND (? IS NULL OR state = ?)
       ORDER BY agent LIMIT ?`,
      owner,
      after,
      state,
      state,
      limit,
    ).map(toAgent)
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
    const row = this.get('SELECT * FROM families WHERE family = ?', family) ?? {}
    return {
      turns: Number(row.turns),
      tokens: Number(row.tokens),
      costMicros: Number(row.cost_micros),
      calls: Number(row.calls),
      limits: parse(row.limits) as Limits,
      price: parse(row.price) as Price | null,
    }
  }

  familyMembers(family: number): number {
    return Number(this.get('SELECT count(*) AS n FROM agents WHERE family = ?', family)?.n)
  }

  setFamily(family: number, { turns, tokens, costMicros, calls, limits }: FamilyRow): void {
    this.run(
      'UPDATE families SET turns = ?, tokens = ?, cost_micros = ?, calls = ?, limits = ? WHERE family = ?',
      turns,
      tokens,
      costMicros,
      calls,
      JSON.stringify(limits),
      family,
    )
  }

  /** The commit of a step. */
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

  setStanding(key: number, seq: number, summary: Summary, hostStop: HostStop | null): void {
    this.run(
      'UPDATE agents SET seq = ?, state = ?, summary = ?, wake_at = ?, host_stop = ? WHERE agent = ?',
      seq,
      hostStop === null ? summary.state : 'stopped',
      JSON.stringify(summary),
      hostStop === null ? summary.wakeAt : null,
      hostStop && JSON.stringify(hostStop),
      key,
    )
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
      'SELECT seq FROM events WHERE agent = ? AND nonce = ? ORDER BY seq DESC LIMIT 1',
      key,
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

  putMemory(bytes: Buffer): number {
    return this.run('INSERT INTO memories (bytes) VALUES (?)', zstdCompressSync(bytes))
  }

  putCheckpoint(key: number, seq: number, image: string, memory: number): void {
    this.run(
      'INSERT OR REPLACE INTO checkpoints (agent, seq, image, memory) VALUES (?, ?, ?, ?)',
      key,
      seq,
      image,
      memory,
    )
  }

  /** The last but one goes where it is close to the one before it and all three are of one core. */
  thinCheckpoints(key: number, apart: number): void {
    const [newest, middle, older] = this.all(
      'SELECT seq, image, memory FROM checkpoints WHERE agent = ? ORDER BY seq DESC LIMIT 3',
      key,
    )
    if (newest === undefined || middle === undefined || older === undefined) return
    const close = Number(middle.seq) - Number(older.seq) < apart
    if (!close || middle.image !== newest.image || middle.image !== older.image) return
    this.run('DELETE FROM checkpoints WHERE agent = ? AND seq = ?', key, Number(middle.seq))
    this.#dropMemory(Number(middle.memory))
  }

  #dropMemory(memory: number): void {
    this.run(
      'DELETE FROM memories WHERE memory = ? AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE memory = ?)',
      memory,
      memory,
    )
  }

  checkpoint(key: number, until: number): CheckpointRow | undefined {
    const row = this.get(
      `SELECT c.seq, c.image, m.bytes FROM checkpoints c JOIN memories m ON m.memory = c.memory
       WHERE c.agent = ? AND c.seq <= ? ORDER BY c.seq DESC LIMIT 1`,
      key,
      until,
    )
    if (row === undefined) return undefined
    return {
      seq: Number(row.seq),
      image: String(row.image),
      memory: unpack(row.bytes as Uint8Array),
    }
  }

  checkpointSeq(key: number): number {
    return Number(
      this.get('SELECT max(seq) AS seq FROM checkpoints WHERE agent = ?', key)?.seq ?? 0,
    )
  }

  /** The row of a memory that a checkpoint has, so that a fork can share it. */
  memoryOf(key: number, seq: number): number | undefined {
    const row = this.get('SELECT memory FROM checkpoints WHERE agent = ? AND seq = ?', key, seq)
    return row === undefined ? undefined : Number(row.memory)
  }

  putImage(hash: string, bytes: Uint8Array): void {
    if (this.get('SELECT 1 FROM images WHERE hash = ?', hash) !== undefined) return
    this.run('INSERT INTO images (hash, bytes) VALUES (?, ?)', hash, zstdCompressSync(bytes))
  }

  image(hash: string): Buffer {
    const row = this.get('SELECT bytes FROM images WHERE hash = ?', hash)
    if (row === undefined)
      throw new AgentError('AGENT_DAMAGED', `the image \`${hash}\` of the agent is not there`)
    return unpack(row.bytes as Uint8Array)
  }

  /** Everything of an agent; its memories where nobody else has them. */
  remove(key: number, family: number, owner: string): void {
    this.#counts.delete(owner)
    for (const table of ['events', 'runs', 'effects', 'program_events', 'agents'])
      this.run(`DELETE FROM ${table} WHERE agent = ?`, key)
    const memories = this.all('SELECT memory FROM checkpoints WHERE agent = ?', key)
    this.run('DELETE FROM checkpoints WHERE agent = ?', key)
    for (const { memory } of memories) this.#dropMemory(Number(memory))
    if (this.familyMembers(family) === 0) this.run('DELETE FROM families WHERE family = ?', family)
  }
}

export function toAgent(row: Row): AgentRow {
  return {
    key: Number(row.agent),
    id: String(row.id),
    owner: String(row.owner),
    family: Number(row.family),
    depth: Number(row.depth),
    image: String(row.image),
    createdAt: Number(row.created_at),
    seq: Number(row.seq),
    asked: parse(row.asked) as Record<string, unknown>,
    model: String(row.model),
    template: row.template === null ? null : String(row.template),
    grants: parse(row.grants) as string[],
    state: row.state as AgentRow['state'],
    summary: parse(row.summary) as Summary,
    hostStop: row.host_stop === null ? null : (parse(row.host_stop) as HostStop),
  }
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch (error) {
    throw new AgentError('AGENT_DAMAGED', 'a row of agents.db is damaged', error)
  }
}

function unpack(bytes: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: MEMORY_BYTES_MAX })
  } catch (error) {
    throw new AgentError('AGENT_DAMAGED', 'a stored memory is damaged', error)
  }
}
