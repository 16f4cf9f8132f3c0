// Runs a user's SQL on the index of the ledger: in a separate process (sql-process.ts), which is
// killed on timeout. Called by `sluice ledger query --sql`, and by the admin API.

import { spawn } from 'node:child_process'
import { extname, join } from 'node:path'
import { LedgerError } from '../records/errors.ts'
import { indexFile, mergedFile } from '../records/files.ts'
import {
  SQL_ANSWER_BYTES_MAX,
  SQL_HEAP_BYTES_MAX,
  SQL_LENGTH_MAX,
  SQL_MS_MAX,
  SQL_ROWS_MAX,
} from '../records/limits.ts'
import type { SqlAnswer, SqlRequest } from './sql-process.ts'
import { VIEW_COLUMNS } from './sql-views.ts'

export type SqlRows = Exclude<SqlAnswer, { readonly error: string }>

/**
 * The index must be up to date (RecordIndex); a LedgerError states what was wrong with the query.
 */
export async function runSql(
  directory: string,
  sql: string,
  { rowsMax = SQL_ROWS_MAX, timeoutMs = SQL_MS_MAX, isMerged = false } = {},
): Promise<SqlRows> {
  if (sql.length > SQL_LENGTH_MAX)
    throw wrong(`it has ${sql.length} characters, the limit is ${SQL_LENGTH_MAX}`)
  const file = join(directory, indexFile(directory).name)
  const merged = isMerged ? join(directory, mergedFile(directory).name) : undefined
  const bytesMax = SQL_ANSWER_BYTES_MAX
  const text = await ask({ file, merged, sql, rowsMax, bytesMax }, timeoutMs)
  const answer = JSON.parse(text) as SqlAnswer
  if ('error' in answer) throw wrong(answer.error)
  return answer
}

function ask(request: SqlRequest, timeoutMs: number): Promise<string> {
  const program = join(import.meta.dirname, `sql-process${extname(import.meta.filename)}`)
  const memory = `--max-old-space-size=${Math.ceil(SQL_HEAP_BYTES_MAX / 1_048_576)}`
  const child = spawn(process.execPath, [memory, '--no-warnings', program], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    windowsHide: true,
  })
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(wrong(`it took longer than ${timeoutMs} ms, and was ended`))
    }, timeoutMs)
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (part: string) => {
      text += part
    })
    child.once('error', (error) => reject(wrong(error.message)))
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0 && text !== '') resolve(text)
      else reject(wrong(`it was ended (${signal ?? `exit ${code}`}): it may want too much memory`))
    })
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(request))
  })
}

function wrong(why: string): LedgerError {
  const tables = Object.entries(VIEW_COLUMNS).map(([name, of]) => `${name}(${of.join(', ')})`)
  return new LedgerError(
    'LEDGER_QUERY',
    `the query cannot be answered: ${why}`,
    `one SELECT over ${tables.join('; ')}`,
  )
}
