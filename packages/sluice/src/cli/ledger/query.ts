// `sluice ledger query`: which calls there were, newest first, with verdict and outcome; or whatever one
// SELECT asks. By an index beside the ledger where the directory may be written, else by reading all
// of it.

import type { DatabaseSync } from 'node:sqlite'
import type { Command } from 'commander'
import { recordJson } from '../../ledger/export/record-json.ts'
import { type Query, type QueryPage, queryLedger } from '../../ledger/query/query.ts'
import type { RecordIndex } from '../../ledger/query/record-index.ts'
import { runSql } from '../../ledger/query/run-sql.ts'
import { SessionNames } from '../../ledger/query/session-names.ts'
import { VIEW_COLUMNS } from '../../ledger/query/sql-views.ts'
import {
  QUERY_RECORDS_MAX,
  SQL_MS_ALLOWED_MAX,
  SQL_ROWS_ALLOWED_MAX,
} from '../../ledger/records/limits.ts'
import { StoreError } from '../../store/errors.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { tableLines } from '../../terminal/table-lines.ts'
import { addDirectoryOptions } from '../connect/find-data.ts'
import { callLine } from './lines.ts'
import { openIndex, readCount, readTime, toCommandError, withLedger } from './source.ts'

interface Options {
  data: string
  who?: string
  principal?: string
  agent?: string
  denied?: boolean
  sql?: string
  timeout: string
  session?: string
  server?: string
  tool?: string
  action?: string
  code?: string
  since?: string
  until?: string
  before?: string
  limit: string
  json?: boolean
}

const EXAMPLES = () => `
Examples:
  sluice ledger query --denied --since 1d
  sluice ledger query --who ann --tool stripe/create_refund
  sluice ledger query --agent agent-7 --server github --until 2026-02-01
  sluice ledger query --session session-1 --limit 500 --json
  sluice ledger query --code RATE_LIMITED --since 2026-01-01 --until 2026-02-01

  sluice ledger query --sql "select tool, count(*) n from calls where action <> 'allow'
                             group by tool order by n desc"
  sluice ledger query --sql "select time, request, step, by, comment from approvals"

SQL is SQLite's, one SELECT, read only, over these (\`at\` is in milliseconds, and indexed):
${columnsText()}

Exit code 0 where something was found, 1 where nothing.`

export function addLedgerQuery(parent: Command, answer: SetExitCode): void {
  addDirectoryOptions(parent.command('query'))
    .description('find calls by who, what, verdict and time, newest first')
    .option('--who <id>', 'who called: the principal')
    .option('--principal <id>', 'the same')
    .option('--agent <id>', 'which agent of theirs')
    .option('--session <id>', 'in which session')
    .option('--server <name>', 'on which server')
    .option('--tool <server/tool>', 'which tool (or resource URI or prompt)')
    .option('--denied', 'only what was refused: denied, limited, held, hidden')
    .option('--action <action>', 'allow, require_approval, deny or hide')
    .option('--code <code>', 'with which code, such as RATE_LIMITED')
    .option('--since <time>', 'not before: `15m`, `2h`, `7d` (ago), or a time')
    .option('--until <time>', 'not after')
    .option('--before <seq>', 'only records before this number: the next page')
    .option('--limit <n>', 'how many', '100')
    .option('--sql <select>', 'one SELECT of your own, in place of all of these')
    .option('--timeout <seconds>', 'how long the SELECT may take', '10')
    .option('--json', 'answer as JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      const output = new Output(options)
      answer(options.sql === undefined ? query(options, output) : await ask(options, output))
    })
}

function query(options: Options, output: Output): 0 | 1 {
  const request = queryOf(options)
  return withLedger(options.data, (ledger) => {
    const { calls, next, names } = find(ledger, options.data, request, output)
    const named = calls.map((call) => {
      const sessionName = names.nameOf(call.record.session)
      return sessionName === undefined ? call : { ...call, sessionName }
    })
    if (output.json) {
      const all = named.map(({ record, ...more }) => recordJson(record, more))
      process.stdout.write(`{"calls":[${all.join(',\n')}],"next":${next}}\n`)
    }
    for (const call of [...named].reverse()) output.line(callLine(call, output))
    if (calls.length === 0) output.line('no calls')
    if (next !== null) output.line(output.paint('dim', `older ones: --before ${next}`))
    return calls.length > 0 ? 0 : 1
  })
}

function find(ledger: DatabaseSync, directory: string, query: Query, output: Output) {
  let index: RecordIndex | undefined
  try {
    index = openIndex(directory, ledger, output)
    return withNames(queryLedger(ledger, query, index), new SessionNames(ledger, index.database))
  } catch (error) {
    if (!(error instanceof StoreError) && !('errcode' in (error as object))) throw error
    output.remark('note: the index cannot be written here, so the whole ledger is read')
    return withNames(queryLedger(ledger, query, undefined), new SessionNames(ledger, undefined))
  } finally {
    index?.close()
  }
}

function withNames(page: QueryPage, names: SessionNames) {
  names.load(page.calls.map(({ record }) => record.session))
  return { ...page, names }
}

async function ask({ data, sql = '', limit, timeout }: Options, output: Output): Promise<0 | 1> {
  const rowsMax = readCount(limit, '--limit', SQL_ROWS_ALLOWED_MAX)
  const timeoutMs = readCount(timeout, '--timeout', SQL_MS_ALLOWED_MAX / 1_000) * 1_000
  withLedger(data, (ledger) => {
    const index = openIndex(data, ledger, output)
    index.catchUp()
    index.close()
  })
  const { columns, rows, more } = await runSql(data, sql, { rowsMax, timeoutMs }).catch((error) => {
    throw toCommandError(error)
  })
  output.value({ columns, rows, more })
  const cells = rows.map((row) => row.map((value) => (value === null ? '' : String(value))))
  for (const line of tableLines(columns, cells)) output.line(line)
  if (more)
    output.line(output.paint('dim', `there are more: --limit takes up to ${SQL_ROWS_ALLOWED_MAX}`))
  return rows.length > 0 ? 0 : 1
}

function columnsText(): string {
  return Object.entries(VIEW_COLUMNS)
    .map(([name, columns]) => `  ${name}: ${columns.join(', ')}`)
    .join('\n')
}

function queryOf(options: Options): Query {
  const { agent, denied, session, action, code, tool, before } = options
  const principal = options.who ?? options.principal
  const [server, name] = tool === undefined ? [options.server] : split(tool)
  const sinceMs = readTime(options.since, '--since')
  const untilMs = readTime(options.until, '--until')
  const filters = {
    principal,
    agent,
    session,
    server,
    name,
    action,
    code,
    sinceMs,
    untilMs,
    denied,
    before: before === undefined ? undefined : readCount(before, '--before', 2 ** 50),
    limit: readCount(options.limit, '--limit', QUERY_RECORDS_MAX),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

function split(tool: string): [string, string] {
  const at = tool.indexOf('/')
  if (at > 0) return [tool.slice(0, at), tool.slice(at + 1)]
  throw new CliError(
    'CLI_ARGUMENT',
    `\`${tool}\` is no \`<server>/<tool>\``,
    'name the server before the `/`, or use --server',
  )
}
