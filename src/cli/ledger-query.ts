// `sluice ledger query`: which calls there were, newest first, with verdict and outcome. By an index
// beside the ledger where the directory may be written, else by reading all of it.

import type { DatabaseSync } from 'node:sqlite'
import type { Command } from 'commander'
import { QUERY_RECORDS_MAX } from '../ledger/limits.ts'
import { type Query, queryLedger } from '../ledger/query.ts'
import { RecordIndex } from '../ledger/record-index.ts'
import { StoreError } from '../store/errors.ts'
import type { Answer } from './answer.ts'
import { CliError } from './errors.ts'
import { callLine, recordJson } from './ledger-lines.ts'
import { DATA_OPTION, readCount, readTime, withLedger } from './ledger-source.ts'
import { Output } from './output.ts'

interface Options {
  data: string
  principal?: string
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

const EXAMPLES = `
Examples:
  sluice ledger query --action deny --since 1d
  sluice ledger query --tool stripe/create_refund --principal ann
  sluice ledger query --session session-1 --limit 500 --json
  sluice ledger query --code RATE_LIMITED --since 2026-01-01 --until 2026-02-01

Exit code 0 where calls were found, 1 where none.`

export function addLedgerQuery(parent: Command, answer: Answer): void {
  parent
    .command('query')
    .description('find calls by who, what, verdict and time, newest first')
    .option(...DATA_OPTION)
    .option('--principal <id>', 'who called')
    .option('--session <id>', 'in which session')
    .option('--server <name>', 'on which server')
    .option('--tool <server/tool>', 'which tool (or resource URI or prompt)')
    .option('--action <action>', 'allow, require_approval, deny or hide')
    .option('--code <code>', 'with which code, such as RATE_LIMITED')
    .option('--since <time>', 'not before: `15m`, `2h`, `7d` (ago), or a time')
    .option('--until <time>', 'not after')
    .option('--before <seq>', 'only records before this number: the next page')
    .option('--limit <n>', 'how many', '100')
    .option('--json', 'answer as JSON')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => answer(query(options, new Output(options))))
}

function query(options: Options, output: Output): 0 | 1 {
  const asked = queryOf(options)
  return withLedger(options.data, (ledger) => {
    const { calls, next } = ask(ledger, options.data, asked, output)
    if (output.json) {
      const all = calls.map(({ record, outcome }) => recordJson(record, { outcome }))
      process.stdout.write(`{"calls":[${all.join(',\n')}],"next":${next}}\n`)
    }
    for (const { record, outcome } of [...calls].reverse())
      output.line(callLine(record, outcome, output))
    if (calls.length === 0) output.line('no calls')
    if (next !== null) output.line(output.paint('dim', `older ones: --before ${next}`))
    return calls.length > 0 ? 0 : 1
  })
}

function ask(ledger: DatabaseSync, directory: string, asked: Query, output: Output) {
  let index: RecordIndex | undefined
  try {
    index = new RecordIndex(directory, ledger)
    return queryLedger(ledger, asked, index)
  } catch (error) {
    if (!(error instanceof StoreError) && !('errcode' in (error as object))) throw error
    output.remark('note: the index cannot be written here, so the whole ledger is read')
    return queryLedger(ledger, asked, undefined)
  } finally {
    index?.close()
  }
}

function queryOf(options: Options): Query {
  const { principal, session, action, code, tool, before } = options
  const [server, name] = tool === undefined ? [options.server] : split(tool)
  const sinceMs = readTime(options.since, '--since')
  const untilMs = readTime(options.until, '--until')
  const given = {
    ...{ principal, session, server, name, action, code, sinceMs, untilMs },
    before: before === undefined ? undefined : readCount(before, '--before', 2 ** 50),
    limit: readCount(options.limit, '--limit', QUERY_RECORDS_MAX),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
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
