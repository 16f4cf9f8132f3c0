// Prepares the statements of a class at once, each under its name.

import type { DatabaseSync, StatementSync } from 'node:sqlite'

export function prepareAll<Name extends string>(
  database: DatabaseSync,
  statements: Readonly<Record<Name, string>>,
): Readonly<Record<Name, StatementSync>> {
  const prepared = Object.entries<string>(statements).map(([name, sql]) => [
    name,
    database.prepare(sql),
  ])
  return Object.fromEntries(prepared)
}
