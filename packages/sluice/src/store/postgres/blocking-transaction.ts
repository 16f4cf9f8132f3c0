// One transaction of many statements, over a connection that blocks, for a command that moves a whole
// installation: all of it is there after `commit`, or nothing.

import { asBuffer } from '../as-buffer.ts'
import { MOVE_DEADLINE_MS } from '../limits.ts'
import type { PostgresAddress } from './address.ts'
import { BlockingConnection, type BlockingStatement } from './blocking-connection.ts'
import type { Row } from './connections.ts'

/** Parameters of one statement; PostgreSQL allows 65,535. */
const PARAMETERS_MAX = 20_000
/** Bytes of one statement, about. */
const STATEMENT_BYTES = 4 * 1_048_576
/** Nobody else waits, and a database that writes a checkpoint of a large table may take long. */
const PATIENT = { deadlineMs: MOVE_DEADLINE_MS }
const CONTINUED = { ...PATIENT, isContinued: true }

export class BlockingTransaction {
  readonly #connection: BlockingConnection

  constructor(address: PostgresAddress) {
    this.#connection = new BlockingConnection(address)
    this.#connection.send([{ text: 'BEGIN' }], PATIENT)
  }

  /** As that of PostgresConnections, so that its users work inside of the transaction. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.run({ text, values })
  }

  run(statement: BlockingStatement): readonly Row[] {
    const [rows = []] = this.#connection.send([statement], CONTINUED)
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(withBuffer)))
  }

  /** Rows of equal columns, many in one statement. Returns how many there were. */
  insert(table: string, columns: readonly string[], rows: Iterable<readonly unknown[]>): number {
    let count = 0
    let values: unknown[] = []
    let bytes = 0
    const flush = (): void => {
      if (values.length === 0) return
      const places = values.map((_, at) => `$${at + 1}`)
      const groups = Array.from({ length: values.length / columns.length }, (_, at) =>
        places.slice(at * columns.length, (at + 1) * columns.length).join(),
      )
      const list = groups.map((group) => `(${group})`).join()
      this.run({ text: `INSERT INTO ${table} (${columns.join()}) VALUES ${list}`, values })
      values = []
      bytes = 0
    }
    for (const row of rows) {
      count += 1
      values.push(...row)
      for (const value of row) bytes += (value as { length?: number } | null)?.length ?? 8
      if (values.length + columns.length > PARAMETERS_MAX || bytes > STATEMENT_BYTES) flush()
    }
    flush()
    return count
  }

  commit(): void {
    this.#connection.send([{ text: 'COMMIT' }], CONTINUED)
  }

  /** Without `commit`, nothing has happened. */
  close(): void {
    this.#connection.close()
  }
}

/** Bytes cross the thread without their class. */
function withBuffer([name, value]: [string, unknown]): [string, unknown] {
  return [name, value instanceof Uint8Array ? asBuffer(value) : value]
}
