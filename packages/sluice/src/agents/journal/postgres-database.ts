// The driver of the journal for a store that gates share. Every change is a transaction that first finds the
// lease of this process: after another gate has removed it, nothing of this one is written any more (fencing).
// Writes are collected and sent with the next read or the commit. Owned by the journal; see leases.ts.

import { AGENT_IDLE_MS_MAX, AGENT_LOCK_MS_MAX } from '../../store/limits.ts'
import type { PostgresAddress } from '../../store/postgres/address.ts'
import {
  BlockingConnection,
  type BlockingStatement,
} from '../../store/postgres/blocking-connection.ts'
import { AGENT_KEYS_AT_ONCE } from '../shared/limits.ts'
import type { AgentDatabase, Value } from './database.ts'
import { AgentLeases } from './leases.ts'
import type { SqlRow } from './read-rows.ts'
import { TABLES } from './schema.ts'

export interface SharedJournalPlace {
  readonly address: PostgresAddress
  readonly gate: string
  /** A UUID of this process. */
  readonly lease: string
}

const TABLE = new RegExp(`\\b(FROM|INTO|UPDATE|JOIN)(\\s+)(${TABLES.join('|')})\\b`, 'g')
const COMMIT: BlockingStatement = { text: 'COMMIT' }

export class PostgresDatabase implements AgentDatabase {
  readonly leases: AgentLeases
  readonly own: string
  readonly #connection: BlockingConnection
  readonly #onRollback: () => void
  readonly #texts = new Map<string, string>()
  #nextKey = 0
  #keysEnd = 0
  #isOpen = true
  #isInTransaction = false
  /** The database has begun it: the statements so far were sent. */
  #hasBegun = false
  #writes: BlockingStatement[] = []

  constructor(place: SharedJournalPlace, onRollback: () => void) {
    this.#connection = new BlockingConnection(place.address)
    this.#onRollback = onRollback
    this.leases = new AgentLeases(place, (statements) => this.#connection.send(statements))
    this.own = `a.family IN (SELECT family FROM families WHERE lease = '${place.lease}')`
    try {
      this.leases.enter()
    } catch (error) {
      this.#connection.close()
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  lockSettings(): void {
    this.#writes.push({ text: 'SELECT pg_advisory_xact_lock(1936487785, 3)' })
  }

  nextKeys(count: number): number {
    if (this.#nextKey + count > this.#keysEnd) {
      const text = "SELECT nextval('sluice_agents.keys') AS first"
      const [rows] = this.#connection.send([{ text }])
      this.#nextKey = Number(rows?.[0]?.first)
      this.#keysEnd = this.#nextKey + AGENT_KEYS_AT_ONCE
    }
    const first = this.#nextKey
    this.#nextKey += count
    return first
  }

  transact<Result>(work: () => Result): Result {
    if (this.#isInTransaction) return work()
    this.#isInTransaction = true
    try {
      const result = work()
      if (this.#hasBegun || this.#writes.length > 0) this.#send([COMMIT])
      return result
    } catch (error) {
      if (this.#hasBegun) this.#rollBack()
      this.#onRollback()
      throw error
    } finally {
      this.#isInTransaction = false
      this.#hasBegun = false
      this.#writes = []
    }
  }

  run(sql: string, ...values: Value[]): void {
    const write = { text: this.#textOf(sql), values }
    if (this.#isInTransaction) this.#writes.push(write)
    else this.transact(() => this.#writes.push(write))
  }

  get(sql: string, ...values: Value[]): SqlRow | undefined {
    return this.all(sql, ...values)[0]
  }

  all(sql: string, ...values: Value[]): SqlRow[] {
    const read = { text: this.#textOf(sql), values }
    if (!this.#isInTransaction) return [...(this.#connection.send([read])[0] ?? [])]
    return this.#send([read])
  }

  tidy(): void {}

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      this.leases.release()
    } catch {
      // The lease ends by itself.
    }
    this.#connection.close()
  }

  /** In the transaction, after what waits: the rows of the last statement. */
  #send(statements: readonly BlockingStatement[]): SqlRow[] {
    // Over another connection it would be written without the fence.
    const isContinued = this.#hasBegun
    const begin = isContinued ? [] : [this.#begin()]
    const all = [...begin, ...this.#writes, ...statements]
    this.#writes = []
    this.#hasBegun = true
    try {
      return [...(this.#connection.send(all, { isContinued }).at(-1) ?? [])]
    } catch (error) {
      // It was rolled back there.
      this.#hasBegun = false
      throw error
    }
  }

  #begin(): BlockingStatement {
    const text = `BEGIN; SET LOCAL lock_timeout = ${AGENT_LOCK_MS_MAX};
      SET LOCAL idle_in_transaction_session_timeout = ${AGENT_IDLE_MS_MAX}; ${this.leases.fence}`
    return { text, isFence: true }
  }

  #rollBack(): void {
    try {
      this.#connection.send([{ text: 'ROLLBACK' }], { isContinued: true })
    } catch {
      // The connection is gone, and the transaction with it.
    }
  }

  #textOf(sql: string): string {
    let text = this.#texts.get(sql)
    if (text === undefined) {
      let place = 0
      text = sql
        .replace(TABLE, '$1$2sluice_agents.$3')
        .replace(/\?(\d*)/g, (_, number: string) => `$${number || ++place}`)
      this.#texts.set(sql, text)
    }
    return text
  }
}
