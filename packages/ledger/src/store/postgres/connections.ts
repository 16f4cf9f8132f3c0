// The few connections of one gate to its database. Every statement has a deadline; after it the
// connection is destroyed, because what became of the statement is unknown. Nothing here depends on the
// state of a session (no prepared statements, no SET, no LISTEN), so that PgBouncer in transaction mode
// works. Used by the rest of this folder.

import type { Client as PgClient, QueryResult } from 'pg'
import { CONNECTIONS_MAX, STATEMENT_DEADLINE_MS } from '../limits.ts'
import { describePostgres, type PostgresAddress, toClientConfig } from './address.ts'
import { toUnreachable } from './explain-failure.ts'

export type Row = QueryResult['rows'][number]

export interface PostgresOptions {
  /** Of a statement. */
  readonly deadlineMs?: number
  /** All statements go over one connection, and none is opened after it was lost: a transaction does not go on over
   * another one. */
  readonly isTransaction?: boolean
}

/** What sends statements to the database. */
export type Queryable = Pick<PostgresConnections, 'query'>

export class PostgresConnections {
  readonly #address: PostgresAddress
  readonly #deadlineMs: number
  readonly #isTransaction: boolean
  readonly #idle: PgClient[] = []
  readonly #all = new Set<PgClient>()
  readonly #waiting: ((client: PgClient | undefined) => void)[] = []
  #opening = 0
  #hasOpened = false
  #isClosed = false

  constructor(
    address: PostgresAddress,
    { deadlineMs = STATEMENT_DEADLINE_MS, isTransaction = false }: PostgresOptions = {},
  ) {
    this.#address = address
    this.#deadlineMs = deadlineMs
    this.#isTransaction = isTransaction
  }

  /** For messages, without the password. */
  get where(): string {
    return describePostgres(this.#address)
  }

  /** One statement. Rejects with a StoreError of STORE_UNREACHABLE if its effect is unknown, and with the
   * error of the database, which has an SQLSTATE as `code`, if it had none. */
  async query(
    text: string,
    values: readonly unknown[] = [],
    deadlineMs = this.#deadlineMs,
  ): Promise<readonly Row[]> {
    let client: PgClient | undefined
    let isLate = false
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        isLate = true
        reject(new Error(`no answer within ${deadlineMs} ms`))
      }, deadlineMs)
    })
    try {
      const taking = this.#take()
      // One that comes too late is for the next statement.
      taking.then((late) => isLate && this.#release(late)).catch(() => {})
      client = await Promise.race([taking, late])
      const { rows } = await Promise.race([client.query(text, values), late])
      this.#release(client)
      return rows
    } catch (error) {
      const hasNoEffect = typeof (error as { severity?: unknown }).severity === 'string'
      if (client !== undefined) {
        if (hasNoEffect && !isFatal(error)) this.#release(client)
        else this.#destroy(client)
      }
      if (hasNoEffect && !isFatal(error)) throw error
      throw toUnreachable(this.where, error as Error, error)
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const waiting of this.#waiting.splice(0)) waiting(undefined)
    for (const client of [...this.#all]) this.#destroy(client)
  }

  async #take(): Promise<PgClient> {
    if (this.#isClosed) throw new Error('the gate is stopping')
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    if (this.#all.size + this.#opening < CONNECTIONS_MAX) return this.#open()
    const freed = await new Promise<PgClient | undefined>((resolve) => this.#waiting.push(resolve))
    return freed ?? this.#take()
  }

  async #open(): Promise<PgClient> {
    if (this.#isTransaction && this.#hasOpened) throw new Error('the connection was lost')
    this.#hasOpened = true
    this.#opening++
    try {
      // Loaded only if a store is shared.
      const { Client } = await import('pg')
      const client = new Client(toClientConfig(this.#address))
      client.on('error', () => this.#destroy(client))
      client.on('end', () => this.#destroy(client))
      await client.connect()
      this.#all.add(client)
      return client
    } finally {
      this.#opening--
    }
  }

  #release(client: PgClient): void {
    if (!this.#all.has(client)) return
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) waiting(client)
    else this.#idle.push(client)
  }

  #destroy(client: PgClient): void {
    if (!this.#all.delete(client)) return
    const at = this.#idle.indexOf(client)
    if (at >= 0) this.#idle.splice(at, 1)
    client.connection.stream.destroy()
    // Its place is free for another.
    this.#waiting.shift()?.(undefined)
  }
}

/** FATAL ends the connection (shutdown, too many connections); PANIC the server. */
function isFatal(error: unknown): boolean {
  return (error as { severity?: string }).severity !== 'ERROR'
}
