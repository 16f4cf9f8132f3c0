// The driver of the journal for a store that gates share. Every change is a transaction that first finds the
// lease of this process: after another gate has removed it, nothing of this one is written any more (fencing).
// Writes are collected and sent with the next read or the commit. Owned by the journal; see leases.ts.

import { AGENT_IDLE_MS_MAX, AGENT_LOCK_MS_MAX } from '@sluice/ledger/store/limits'
import type { PostgresAddress } from '@sluice/ledger/store/postgres/address'
import {
  BlockingConnection,
  type BlockingStatement,
  type SqlRows,
} from '@sluice/ledger/store/postgres/blocking-connection'
import { AGENT_KEYS_AT_ONCE } from '../shared/limits.ts'
import type { AgentDatabase, Value } from './database.ts'
import { AgentLeases } from './leases.ts'
import type { SqlRow } from './read-rows.ts'

export interface SharedJournalPlace {
  readonly address: PostgresAddress
  readonly gate: string
  /** A UUID of this process. */
  readonly lease: string
}

/** Statements name tables without their schema. So they fail if no transaction was begun, and nothing that was sent
 * behind this is written by itself. */
const BEGIN: BlockingStatement = {
  text: `BEGIN; SET LOCAL search_path = sluice_agents, pg_temp; SET LOCAL lock_timeout = ${AGENT_LOCK_MS_MAX};
    SET LOCAL idle_in_transaction_session_timeout = ${AGENT_IDLE_MS_MAX}`,
}
const COMMIT: BlockingStatement = { text: 'COMMIT' }

export class PostgresDatabase implements AgentDatabase {
  readonly leases: AgentLeases
  readonly own: string
  readonly #connection: BlockingConnection
  readonly #onRollback: () => void
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
    this.leases = new AgentLeases(place, {
      transact: (statements) => this.#sendWhole(statements),
      hasBegun: () => this.#hasBegun,
    })
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
      this.#nextKey = Number(this.get("SELECT nextval('keys') AS first")?.first)
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
    const write = { text: sql, values }
    if (this.#isInTransaction) this.#writes.push(write)
    else this.transact(() => this.#writes.push(write))
  }

  get(sql: string, ...values: Value[]): SqlRow | undefined {
    return this.all(sql, ...values)[0]
  }

  all(sql: string, ...values: Value[]): SqlRow[] {
    const read = { text: sql, values }
    return [...(this.#isInTransaction ? this.#send([read]) : (this.#sendWhole([read])[0] ?? []))]
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

  /** In the transaction that has begun, or one of its own without the fence: the rows of each statement. */
  #sendWhole(statements: readonly BlockingStatement[]): readonly SqlRows[] {
    if (this.#hasBegun) return this.#connection.send(statements, true)
    return this.#connection.send([BEGIN, ...statements, COMMIT]).slice(1, -1)
  }

  /** In the transaction, after what waits: the rows of the last statement. */
  #send(statements: readonly BlockingStatement[]): SqlRows {
    // Over another connection it would be written without the fence.
    const isContinued = this.#hasBegun
    const begin = isContinued ? [] : [BEGIN, this.leases.fence]
    const all = [...begin, ...this.#writes, ...statements]
    this.#writes = []
    this.#hasBegun = true
    try {
      return this.#connection.send(all, isContinued).at(-1) ?? []
    } catch (error) {
      // It was rolled back there.
      this.#hasBegun = false
      throw error
    }
  }

  #rollBack(): void {
    try {
      this.#connection.send([{ text: 'ROLLBACK' }], true)
    } catch {
      // The connection is gone, and the transaction with it.
    }
  }
}
