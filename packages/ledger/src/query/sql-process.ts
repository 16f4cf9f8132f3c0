// One SQL query on the index, in a separate process: read-only, one statement, and nothing but
// reading allowed by SQLite's authorizer. The parent process kills it on timeout, which cannot be
// done from inside. Request on stdin, response on stdout, both JSON. Started by run-sql.ts.

import { constants, DatabaseSync } from 'node:sqlite'
import { SQL_HEAP_BYTES_MAX, SQL_LENGTH_MAX, SQL_VALUE_BYTES_MAX } from '../records/limits.ts'
import { viewsOf } from './sql-views.ts'

export interface SqlRequest {
  readonly file: string
  /** The merged ledger that the index is of, if it is of several gates. */
  readonly merged?: string | undefined
  readonly sql: string
  readonly rowsMax: number
  readonly bytesMax: number
}

export type SqlAnswer =
  | {
      readonly columns: readonly string[]
      readonly rows: readonly (readonly unknown[])[]
      /** There were more than were requested. */
      readonly more: boolean
    }
  | { readonly error: string }

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } =
  constants
const ALLOWED: readonly number[] = [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]

function answer({ file, merged, sql, rowsMax, bytesMax }: SqlRequest): SqlAnswer {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  database.exec(`PRAGMA hard_heap_limit = ${SQL_HEAP_BYTES_MAX}; PRAGMA temp_store = MEMORY;`)
  // Read-only like the index itself: an attached file has the flags of the first.
  if (merged !== undefined) database.prepare('ATTACH ? AS merged').run(merged)
  database.exec(viewsOf(merged !== undefined))
  restrict(database)
  const statement = database.prepare(sql)
  if (findRest(sql, statement.sourceSQL) !== '') return { error: 'it is more than one statement' }
  statement.setReturnArrays(true)
  const columns = statement.columns().map(({ name }) => name)
  if (columns.length === 0) return { error: 'it is not a SELECT' }
  const rows: unknown[][] = []
  let bytes = 0
  for (const row of statement.iterate() as Iterable<unknown>) {
    if (rows.length === rowsMax || bytes > bytesMax) return { columns, rows, more: true }
    const values = (row as unknown[]).map(toJsonCell)
    bytes += JSON.stringify(values).length
    rows.push(values)
  }
  return { columns, rows, more: false }
}

/** Restricts the connection: from then on only reads can be prepared, no ATTACH, no PRAGMA, no extension. */
function restrict(database: DatabaseSync): void {
  Object.assign(database.limits, {
    length: SQL_VALUE_BYTES_MAX,
    sqlLength: SQL_LENGTH_MAX,
    column: 500,
    exprDepth: 200,
    compoundSelect: 50,
    functionArg: 100,
    attach: 0,
    likePatternLength: 1_000,
    triggerDepth: 0,
  })
  database.setAuthorizer((action, _, name) => {
    if (!ALLOWED.includes(action)) return SQLITE_DENY
    if (action === SQLITE_FUNCTION && FORBIDDEN.has(String(name).toLowerCase())) return SQLITE_DENY
    return SQLITE_OK
  })
}

const FORBIDDEN = new Set(['load_extension', 'readfile', 'writefile', 'edit', 'fts3_tokenizer'])

/** Returns what follows the first statement. */
function findRest(sql: string, first: string): string {
  const at = sql.indexOf(first)
  return sql
    .slice(at + first.length)
    .replace(/[\s;]+/g, '')
    .trim()
}

function toJsonCell(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'bigint' ? String(value) : value
}

let text = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (part) => {
  text += part
})
process.stdin.on('end', () => {
  let response: SqlAnswer
  try {
    response = answer(JSON.parse(text) as SqlRequest)
  } catch (error) {
    response = { error: (error as Error).message }
  }
  process.stdout.write(JSON.stringify(response))
})
