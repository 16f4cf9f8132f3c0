// The names that open tokens in the records of all gates, as gates have stored them for each other. A row is believed
// if it opens its token, so that reading them takes no key of the cluster.

import type { SQLOutputValue } from 'node:sqlite'
import { emptyIndex } from '../query/record-index.ts'
import { makeToken, type NameRow, Names, namesDirectory } from '../records/names.ts'
import { asBuffer } from '../store/as-buffer.ts'
import type { Queryable } from '../store/postgres/connections.ts'
import { STORED_NAMES } from '../store/postgres/statements.ts'
import { decodeRow } from '../store/sqlite/mirrored-tables.ts'

export interface StoredNames {
  /** They have the columns of the table in `ledger-names.db`. */
  readonly rows: readonly Record<string, SQLOutputValue>[]
  /** That of the latest change among them, for the next time. */
  readonly version: number
}

/** Reads the rows that were changed after a version. */
export async function readStoredNames(connections: Queryable, after = 0): Promise<StoredNames> {
  const found = await connections.query(STORED_NAMES, [after])
  const rows = found.map(({ body }) => Object.fromEntries(decodeRow(String(body))))
  const version = found.reduce((latest, row) => Math.max(latest, Number(row.version)), after)
  return { rows, version }
}

/** Puts them beside a copy of the records. If somebody was forgotten since the last time, the index of the copy is
 * emptied: it has the name. */
export function keepNames(directory: string, rows: StoredNames['rows']): void {
  using names = new Names(namesDirectory(directory))
  names.addMissing(rows)
  const isForgotten = new Set(rows.filter(({ name }) => name === null).map(({ token }) => token))
  const gone = names.list().filter(({ name, token }) => name !== null && isForgotten.has(token))
  if (gone.length === 0) return
  names.forget(gone.map(({ token }) => String(token)))
  emptyIndex(directory)
}

/** Maps tokens to the rows that open them; somebody who was forgotten has none. */
export function openNames(rows: StoredNames['rows']): Map<string, NameRow> {
  const opened = new Map<string, NameRow>()
  for (const { token, name, salt } of rows) {
    if (typeof name !== 'string' || !(salt instanceof Uint8Array)) continue
    if (makeToken(name, salt) !== token) continue
    opened.set(token, { token, name, salt: asBuffer(salt).toString('base64url') })
  }
  return opened
}
