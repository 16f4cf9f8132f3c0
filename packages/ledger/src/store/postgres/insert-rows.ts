// Rows of equal columns into a table, many in one statement. Called by `sluice store move`.

import type { PostgresConnections } from './connections.ts'

/** Parameters of one statement; PostgreSQL allows 65,535. */
const PARAMETERS_MAX = 20_000
/** Bytes of one statement, about. */
const STATEMENT_BYTES = 4 * 1_048_576

/** Returns how many there were. */
export async function insertRows(
  target: PostgresConnections,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly unknown[]>,
): Promise<number> {
  let count = 0
  let values: unknown[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    if (values.length === 0) return
    const places = values.map((_, at) => `$${at + 1}`)
    const groups = Array.from({ length: values.length / columns.length }, (_, at) =>
      places.slice(at * columns.length, (at + 1) * columns.length).join(),
    )
    const list = groups.map((group) => `(${group})`).join()
    await target.query(`INSERT INTO ${table} (${columns.join()}) VALUES ${list}`, values)
    values = []
    bytes = 0
  }
  for (const row of rows) {
    count += 1
    values.push(...row)
    for (const value of row) bytes += (value as { length?: number } | null)?.length ?? 8
    if (values.length + columns.length > PARAMETERS_MAX || bytes > STATEMENT_BYTES) await flush()
  }
  await flush()
  return count
}
