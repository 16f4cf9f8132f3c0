// `sluice ledger query`: which calls there were, newest first, with decision and outcome; or whatever one
// SELECT asks. By an index beside the ledger where the directory may be written, else by reading all
// of it.

import { recordJson } from '@sluice/ledger/export/record-json'
import { toOriginal } from '@sluice/ledger/merged/origins'
import { type Query, type QueryPage, queryLedger } from '@sluice/ledger/query/query'
import { RecordIndex } from '@sluice/ledger/query/record-index'
import { runSql } from '@sluice/ledger/query/run-sql'
import { SessionNames } from '@sluice/ledger/query/session-names'
import { VIEW_COLUMNS } from '@sluice/ledger/query/sql-views'
import {
  QUERY_RECORDS_MAX,
  SQL_MS_ALLOWED_MAX,
  SQL_ROWS_ALLOWED_MAX,
} from '@sluice/ledger/records/limits'
import { digestText } from '@sluice/ledger/records/record'
import { StoreError } from '@sluice/ledger/store/errors'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { runSteps } from '@sluice/policy/structures/steps'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import type { JsonValue } from '@sluice/policy/values/json'
import { DIRECTORY } from '../connect/find-data.ts'
import { keyDigests } from '../connect/key-digests.ts'
import { readCount } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { tableLines } from '../terminal/table-lines.ts'
import { CALL_FILTERS, readCallFilters } from './call-filters.ts'
import { callLine } from './lines.ts'
import { type OpenRecords, STORE, withIndex, withRecords } from './source.ts'

const EXAMPLES = () => `
Examples:
  sluice ledger query --denied --since 1d
  sluice ledger query --quiet               what was answered for you, call by call
  sluice ledger query --who ann --tool stripe/create_refund
  sluice ledger query --tool create_refund --where 'args.amount > 200'   of whatever server
  sluice ledger query --where 'args.amount > 200; args.currency = EUR' --sum args.amount
  sluice ledger query --args '{"customer":"c9","amount":120}'   the call with these arguments
  sluice ledger query --agent agent-7 --server github --until 2026-02-01
  sluice ledger query --session session-1 --limit 500 --json
  sluice ledger query --code RATE_LIMITED --since 2026-01-01 --until 2026-02-01
  sluice ledger query --store postgres://auditor@db/sluice --since 7d   the calls at all gates
  sluice ledger query --since 30d --limit 1000 --all --json             every call, page by page

  sluice ledger query --sql "select tool, count(*) n from calls where action <> 'allow'
                             group by tool order by n desc"
  sluice ledger query --sql "select time, tool, path, value from recorded join calls using (seq)"
  sluice ledger query --sql "select decided, step, by, proof, comment from decided
                             where name = 'create_refund' and args ->> 'args.amount' = 120"
  sluice ledger query --sql "select time, request, step, by, comment from approvals"

SQL is SQLite's, one SELECT, read only, over these (\`at\` is in milliseconds, and indexed):
${columnsText()}

\`recorded\` has what --where and --sum see of arguments: what rules read of them, which is numbers, booleans and
words of an enum, texts with \`ledger: { record: judged }\`. A call without such a value is not found.

With --store, \`seq\` counts the records of all gates, in SQL and for --before; \`gate\` and \`gate_seq\` are the
gate that wrote a record and its number there.

Exit code 0 if something was found, 1 if not.`

const OPTIONS = {
  ...DIRECTORY,
  ...STORE,
  ...CALL_FILTERS,
  '--quiet': 'only calls about which the gate answered the question of a coding agent for its user',
  '--args <json>': 'a call with these arguments; `@FILE` reads them from a file',
  '--before <seq>': 'only records before this number: the next page',
  '--limit <n>': ['how many', '100'],
  '--all': 'every page, of at most --limit calls each; with --store all of one copy',
  '--sum <value>':
    'how often, and for each currency the sum, the smallest and the largest of a recorded value, such as `args.amount`',
  '--sql <select>': 'one SELECT of your own, instead of the filters',
  '--timeout <seconds>': ['how long the SELECT may take', '10'],
} as const

type Options = OptionsOf<typeof OPTIONS>

export const addLedgerQuery = defineCommand({
  name: 'query',
  description: 'find the newest calls by caller, tool, decision and time',
  options: OPTIONS,
  examples: EXAMPLES,
  run: async (options, output) => {
    // Wrong arguments are reported before anything is copied from a shared store.
    const digests = options.args === undefined ? [] : await findDigests(options.data, options.args)
    const work = chooseWork(options, digests, output)
    return withRecords(options, output, work)
  },
})

function chooseWork(
  options: Options,
  digests: readonly string[],
  output: Output,
): (records: OpenRecords) => 0 | 1 | Promise<0 | 1> {
  if (digests.length > 0 && (options.sql !== undefined || options.sum !== undefined))
    throw new ArgumentError('--args goes with neither --sql nor --sum', 'leave one of them out')
  if (options.sql !== undefined) return ask(options, output)
  return options.sum === undefined
    ? query(options, digests, output)
    : sum(options.sum, options, output)
}

/** As `GET /api/ledger/sum`. */
function sum(path: string, options: Options, output: Output) {
  if (!/^args\.[^\s]+$/.test(path))
    throw new ArgumentError(`--sum is \`${path}\``, 'the path of a recorded value: `args.amount`')
  const query: Query = { ...readCallFilters(options), sort: path }
  return async ({ directory, ledger }: OpenRecords): Promise<0 | 1> => {
    const { readSum } = await import('@sluice/console/queries/value-queries')
    const total = withIndex(directory, ledger, (index) => runSteps(readSum(index, { query })))
    output.value({ value: path, ...total })
    if (total.currencies.length === 0)
      output.line(`no call has a number on record at ${printable(path)}`)
    for (const { currency, calls, sum, min, max, allowed, allowedSum } of total.currencies)
      output.line(
        `${printable(path)} of ${plural(calls, 'call')}${currency === '' ? ' without a currency on record' : ` in ${printable(currency)}`}: sum ${sum}, smallest ${min}, largest ${max}; allowed ${allowed}, sum ${allowedSum}`,
      )
    return total.currencies.length > 0 ? 0 : 1
  }
}

function query(
  options: Options,
  digests: readonly string[],
  output: Output,
): (records: OpenRecords) => 0 | 1 {
  const { before, limit, quiet, store } = options
  if (quiet === true && store !== undefined)
    throw new ArgumentError(
      '--quiet cannot be used with --store',
      `use --sql "select * from events where name = 'quiet'"`,
    )
  const request: Query = {
    ...readCallFilters(options),
    ...pickDefined({ quiet }),
    ...(before === undefined ? {} : { before: readCount(before, '--before', 2 ** 50) }),
    ...(digests.length === 0 ? {} : { argsDigests: digests }),
    limit: readCount(limit, '--limit', QUERY_RECORDS_MAX),
  }
  return (records) => {
    let count = 0
    let next: number | null = null
    if (output.json) process.stdout.write('{"calls":[')
    do {
      const page = find(records, next === null ? request : { ...request, before: next }, output)
      printCalls(nameCalls(page, records), output, count === 0)
      count += page.calls.length
      next = page.next
    } while (options.all === true && next !== null)
    if (output.json) process.stdout.write(`],"next":${next}}\n`)
    if (count === 0) output.line('no calls')
    if (count === 0 && digests.length > 0)
      output.remark(
        'note: a digest is of the exact text that was sent, with every space and key order',
      )
    if (count === 0) noteOtherName(records, request, output)
    if (next !== null) output.dim(`older ones: --before ${next}`)
    if (next !== null && options.store !== undefined && options.copy === undefined)
      output.remark('note: a further page copies the store again; --all or --copy DIR does not')
    return count > 0 ? 0 : 1
  }
}

/** Of the arguments as they are written, without spaces, and with sorted keys: a client may have sent any of these. */
async function findDigests(data: string, args: string): Promise<readonly string[]> {
  const text = args.startsWith('@') ? readText(args.slice(1)).trim() : args
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch (error) {
    throw new ArgumentError(
      `--args is not JSON: ${(error as Error).message}`,
      'write it as it was sent, such as \'{"amount":120}\'',
    )
  }
  const texts = new Set([text, JSON.stringify(value), writeCanonicalJson(value)])
  const plain = [...texts].map(digestText)
  return [...(await keyDigests(data, plain)), ...plain]
}

function nameCalls({ calls, names }: ReturnType<typeof find>, { originOf }: OpenRecords) {
  return calls.map(({ record, outcome }) => {
    const sessionName = names.nameOf(record.session)
    return {
      record: toOriginal(record, originOf),
      outcome: outcome && toOriginal(outcome, originOf),
      ...pickDefined({ sessionName }),
    }
  })
}

/** JSON has the newest call first; lines have the newest of a page last, where it is seen. */
function printCalls(calls: ReturnType<typeof nameCalls>, output: Output, isFirst: boolean): void {
  if (output.json && calls.length > 0) {
    const all = calls.map(({ record, ...more }) => recordJson(record, more))
    process.stdout.write(`${isFirst ? '' : ',\n'}${all.join(',\n')}`)
  }
  for (const call of [...calls].reverse()) output.line(callLine(call, output))
}

/** A caller and an agent are easily taken for each other. */
function noteOtherName(records: OpenRecords, { principal, agent }: Query, output: Output): void {
  const has = (query: Query) => find(records, { ...query, limit: 1 }, output).calls.length > 0
  if (agent !== undefined && has({ principal: agent }))
    output.remark(`note: \`${agent}\` is a caller, not an agent: use --who`)
  else if (principal !== undefined && has({ agent: principal }))
    output.remark(`note: \`${principal}\` is an agent, not a caller: use --agent`)
}

function find({ ledger, directory }: OpenRecords, query: Query, output: Output) {
  let index: RecordIndex | undefined
  try {
    index = new RecordIndex(directory, ledger)
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

function ask(
  { sql = '', limit, timeout, store }: Options,
  output: Output,
): (records: OpenRecords) => Promise<0 | 1> {
  const rowsMax = readCount(limit, '--limit', SQL_ROWS_ALLOWED_MAX)
  const timeoutMs = readCount(timeout, '--timeout', SQL_MS_ALLOWED_MAX / 1_000) * 1_000
  return async ({ directory, ledger }) => {
    withIndex(directory, ledger, () => {})
    const isMerged = store !== undefined
    const { columns, rows, more } = await runSql(directory, sql, { rowsMax, timeoutMs, isMerged })
    output.value({ columns, rows, more })
    const cells = rows.map((row) => row.map((value) => (value === null ? '' : String(value))))
    for (const line of tableLines(columns, cells)) output.line(line)
    if (more) output.dim(`there are more: --limit takes up to ${SQL_ROWS_ALLOWED_MAX}`)
    return rows.length > 0 ? 0 : 1
  }
}

function columnsText(): string {
  return Object.entries(VIEW_COLUMNS)
    .map(([name, columns]) => `  ${name}: ${columns.join(', ')}`)
    .join('\n')
}
