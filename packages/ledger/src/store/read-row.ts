// Reads rows of SQLite and PostgreSQL as written types. A table of columns names a reader for each member of the
// type, so that a forgotten or misread column does not compile, and a value of another kind is an error and not a
// wrong member far away. Used by everything that reads a table.

import { StoreError } from './errors.ts'

/** How one column is read. */
export interface Column<Value> {
  /** The name of the column, if it is not that of the member. */
  readonly from?: string
  /** Throws an error whose message is the form that the value should have had. */
  readonly read: (value: unknown) => Value
}

/** A reader for each member of a row. */
export type Columns<Row> = { readonly [Name in keyof Row]-?: Column<Row[Name]> }

export type StoredRow = Readonly<Record<string, unknown>>

/** What a row that cannot be read becomes. */
export type ToRowError = (why: string) => Error

/**
 * Reads rows with one table of columns. Columns that the table does not name are left out.
 *
 * @example
 * ```ts
 * const readTool = createRowReader<{ name: string; atMs: number }>({ name: TEXT, atMs: column('at', NUMBER) })
 * database.prepare('SELECT name, at FROM tools').all().map(readTool)
 * ```
 */
export function createRowReader<Row extends object>(
  columns: Columns<Row>,
  toError: ToRowError = toStoreError,
): (row: StoredRow) => Row {
  const all = Object.entries<Column<unknown>>(columns)
  return (row) => {
    const members: Record<string, unknown> = {}
    for (const [name, { from = name, read }] of all)
      try {
        members[name] = read(row[from])
      } catch (error) {
        throw toError(`the column \`${from}\` of a row is not ${(error as Error).message}`)
      }
    // `Columns<Row>` has each member of a row, with its type.
    return members as Row
  }
}

/** The same reader for a column of another name. */
export function column<Value>(from: string, { read }: Column<Value>): Column<Value> {
  return { from, read }
}

/** NULL is `null`. */
export function nullable<Value>({ read }: Column<Value>): Column<Value | null> {
  return { read: (value) => (value === null ? null : read(value)) }
}

/** NULL is `unset`. */
export function withDefault<Value, Unset>(
  { read }: Column<Value>,
  unset: Unset,
): Column<Value | Unset> {
  return { read: (value) => (value === null ? unset : read(value)) }
}

/** A text that is one of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Column<Word> {
  return {
    read: (value) => words.find((word) => word === value) ?? refuse(`one of ${words.join(', ')}`),
  }
}

/** JSON that this program wrote. Only its syntax is checked: the type is that of the writer. */
export function json<Value>(): Column<Value> {
  return {
    read: (value) => {
      try {
        return JSON.parse(String(value)) as Value
      } catch {
        return refuse('JSON')
      }
    },
  }
}

export const TEXT: Column<string> = {
  read: (value) => (typeof value === 'string' ? value : refuse('a text')),
}

/** A number, also one that the driver returns as digits. */
export const NUMBER: Column<number> = {
  read: (value) => {
    if (typeof value === 'number') return value
    const isDigits = typeof value === 'bigint' || (typeof value === 'string' && value !== '')
    const number = isDigits ? Number(value) : Number.NaN
    return Number.isNaN(number) ? refuse('a number') : number
  },
}

/** The digits of an integer that may be larger than a number holds. */
export const DIGITS: Column<string> = {
  read: (value) => (/^-?\d+$/.test(String(value)) ? String(value) : refuse('an integer')),
}

/** 1 or `true`; anything else, also NULL, is false. */
export const FLAG: Column<boolean> = { read: (value) => value === 1 || value === true }

export const BYTES: Column<Uint8Array> = {
  read: (value) => (value instanceof Uint8Array ? value : refuse('bytes')),
}

/** Bytes as text, one character a byte. */
export const LATIN1: Column<string> = {
  read: (value) => {
    const { buffer, byteOffset, byteLength } = BYTES.read(value)
    return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('latin1')
  },
}

/** An array of texts, as PostgreSQL has them. */
export const TEXTS: Column<readonly string[]> = {
  read: (value) =>
    Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : refuse('texts'),
}

function refuse(form: string): never {
  throw new TypeError(form)
}

function toStoreError(why: string): StoreError {
  return new StoreError('STORE_CORRUPT', why, 'restore a backup')
}
