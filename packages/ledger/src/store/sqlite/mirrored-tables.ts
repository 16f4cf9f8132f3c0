// Tables of SQLite files that other gates have a copy of. Reports every change that this process makes, by
// temporary triggers on the connections that write; reads rows as JSON, and applies rows of other gates
// without reporting them. Used by store/postgres/shared-state.ts.

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { inTransaction } from './in-transaction.ts'

export interface MirroredTable {
  readonly name: string
  /** Columns that name a row. */
  readonly key: readonly string[]
  /** Columns that every gate has for itself, with the value of a row that came from another gate;
   * undefined leaves it to the table. */
  readonly omit?: Readonly<Record<string, SQLInputValue | undefined>>
}

/** A row as gates exchange it; `body` is null if it was removed. */
export interface MirroredRow {
  readonly kind: string
  readonly key: string
  readonly body: string | null
}

type JsonColumn = string | number | null | { readonly base64: string }

export class MirroredTables {
  readonly #tables = new Map<string, MirroredTable & { readonly columns: readonly string[] }>()
  readonly #databases = new Map<string, DatabaseSync>()
  /** By their text, of each table: thousands of rows may change at once. */
  readonly #statements = new Map<string, Map<string, StatementSync>>()
  readonly #onChange: (kind: string, key: string) => void
  #isApplying = false

  constructor(onChange: (kind: string, key: string) => void) {
    this.#onChange = onChange
  }

  /** `database` is read and applied to; tables are created already. */
  add(database: DatabaseSync, tables: readonly MirroredTable[]): void {
    for (const table of tables) {
      const found = database.prepare(`SELECT name FROM pragma_table_info('${table.name}')`).all()
      const columns = found
        .map(({ name }) => String(name))
        .filter((name) => !(name in (table.omit ?? {})))
      this.#tables.set(table.name, { ...table, columns })
      this.#databases.set(table.name, database)
    }
  }

  /** Reports changes of these tables by this connection, which may be another one to the same file. */
  watch(database: DatabaseSync, names: readonly string[]): void {
    database.function('sluice_changed', (kind: SQLOutputValue, key: SQLOutputValue) => {
      if (!this.#isApplying) this.#onChange(String(kind), String(key))
      return null
    })
    for (const name of names) {
      const { key, columns } = this.#known(name)
      const toRowKey = (row: string) =>
        `json_array(${key.map((column) => `quote(${row}."${column}")`).join()})`
      const report = (row: string) =>
        `BEGIN SELECT sluice_changed('${name}', ${toRowKey(row)}); END`
      const of = columns.map((column) => `"${column}"`).join()
      database.exec(`
        CREATE TEMP TRIGGER mirror_insert_${name} AFTER INSERT ON ${name} ${report('NEW')};
        CREATE TEMP TRIGGER mirror_update_${name} AFTER UPDATE OF ${of} ON ${name} ${report('NEW')};
        CREATE TEMP TRIGGER mirror_delete_${name} AFTER DELETE ON ${name} ${report('OLD')};`)
    }
  }

  read(kind: string, key: string): MirroredRow {
    const table = this.#known(kind)
    const columns = table.columns.map((column) => `"${column}"`).join()
    const sql = `SELECT ${columns} FROM ${kind} WHERE ${whereKey(table)}`
    const row = this.#prepared(kind, sql).get(...toKeyValues(key))
    return { kind, key, body: row === undefined ? null : encodeRow(row) }
  }

  /** Another process has removed a row, which no trigger of this one reports. */
  reportRemoved(kind: string, key: readonly string[]): void {
    this.#onChange(kind, JSON.stringify(key.map(quote)))
  }

  /** Every row of every table. */
  readAll(): MirroredRow[] {
    return [...this.#tables.values()].flatMap(({ name, key }) => {
      const keys = `json_array(${key.map((column) => `quote("${column}")`).join()})`
      return this.#database(name)
        .prepare(`SELECT ${keys} AS key FROM ${name}`)
        .all()
        .map((row) => this.read(name, String(row.key)))
    })
  }

  /** Rows of other gates. Tables that this version does not know are left out. */
  apply(rows: readonly MirroredRow[]): void {
    this.#isApplying = true
    try {
      for (const database of new Set(rows.map(({ kind }) => this.#databases.get(kind)))) {
        if (database === undefined) continue
        inTransaction(database, () => {
          for (const row of rows) if (this.#databases.get(row.kind) === database) this.#put(row)
        })
      }
    } finally {
      this.#isApplying = false
    }
  }

  /** Removes every row: what the shared store has comes next. */
  clear(): void {
    this.#isApplying = true
    try {
      for (const name of this.#tables.keys()) this.#database(name).exec(`DELETE FROM ${name}`)
    } finally {
      this.#isApplying = false
    }
  }

  #put({ kind, key, body }: MirroredRow): void {
    const table = this.#known(kind)
    if (body === null) {
      const sql = `DELETE FROM ${kind} WHERE ${whereKey(table)}`
      this.#prepared(kind, sql).run(...toKeyValues(key))
      return
    }
    const values = decodeRow(body)
    // A newer gate may have further columns.
    const columns = table.columns.filter((column) => values.has(column))
    const own = Object.entries(table.omit ?? {}).filter(([, value]) => value !== undefined)
    const quoted = [...columns, ...own.map(([name]) => name)].map((column) => `"${column}"`)
    const sets = columns
      .filter((column) => !table.key.includes(column))
      .map((column) => `"${column}" = excluded."${column}"`)
    const keys = table.key.map((column) => `"${column}"`).join()
    const update = sets.length === 0 ? 'NOTHING' : `UPDATE SET ${sets.join()}`
    const sql = `INSERT INTO ${kind} (${quoted.join()}) VALUES (${quoted.map(() => '?').join()})
      ON CONFLICT (${keys}) DO ${update}`
    this.#prepared(kind, sql).run(
      ...columns.map((column) => values.get(column) as SQLInputValue),
      ...own.map(([, value]) => value as SQLInputValue),
    )
  }

  #prepared(kind: string, sql: string): StatementSync {
    const mine = this.#statements.get(kind) ?? new Map<string, StatementSync>()
    this.#statements.set(kind, mine)
    const statement = mine.get(sql) ?? this.#database(kind).prepare(sql)
    mine.set(sql, statement)
    return statement
  }

  #known(kind: string) {
    const table = this.#tables.get(kind)
    if (table === undefined) throw new Error(`the table \`${kind}\` is not shared`)
    return table
  }

  #database(kind: string): DatabaseSync {
    return this.#databases.get(kind) as DatabaseSync
  }
}

function encodeRow(row: Record<string, SQLOutputValue>): string {
  return JSON.stringify(row, (_name, value: unknown) => {
    if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
    return typeof value === 'bigint' ? Number(value) : value
  })
}

export function decodeRow(body: string): Map<string, SQLOutputValue> {
  const columns = Object.entries(JSON.parse(body) as Record<string, JsonColumn>)
  return new Map(
    columns.map(([name, value]) => [
      name,
      value !== null && typeof value === 'object' ? Buffer.from(value.base64, 'base64') : value,
    ]),
  )
}

/**
 * A key has its columns as SQL literals. `quote` of SQLite ends at a NUL character, which names of
 * foreign tools may contain: literals are compared, and an index finds the texts with this beginning.
 * The first of several columns is a name or id of the gate.
 */
function whereKey({ key }: MirroredTable): string {
  const terms = key.map((column, at) =>
    at === 0 && key.length > 1
      ? `"${column}" = ?`
      : `"${column}" BETWEEN ? AND ? AND quote("${column}") = ?`,
  )
  return terms.join(' AND ')
}

function toKeyValues(key: string): SQLInputValue[] {
  return (JSON.parse(key) as string[]).flatMap((literal, at, { length }): SQLInputValue[] => {
    const isText = literal.startsWith("'")
    const text = literal.slice(1, -1).replaceAll("''", "'")
    const value = isText ? text : Buffer.from(literal.slice(2, -1), 'hex')
    if (at === 0 && length > 1) return [value]
    return [value, isText ? `${text}\u0001` : value, literal]
  })
}

/** As the function of SQLite, for texts. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
