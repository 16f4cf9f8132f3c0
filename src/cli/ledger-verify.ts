// `sluice ledger verify`: is the record of calls as it was written? Names what was edited, removed
// or moved. The head it prints can be noted elsewhere and given back with --head, so that even a
// chain that was written anew as a whole is found.

import type { Command } from 'commander'
import { PROBLEMS_MAX } from '../ledger/limits.ts'
import { type Noted, verifyLedger } from '../ledger/verify.ts'
import type { Answer } from './answer.ts'
import { CliError } from './errors.ts'
import { DATA_OPTION, withLedger } from './ledger-source.ts'
import { Output, plural } from './output.ts'

interface Options {
  data: string
  head?: string
  json?: boolean
}

const EXAMPLES = `
Examples:
  sluice ledger verify
  sluice ledger verify --data ./.sluice --json
  sluice ledger verify --head 1200:9f86d0…           a head that was noted before

Exit code 0 where everything fits, 1 where not.`

export function addLedgerVerify(parent: Command, answer: Answer): void {
  parent
    .command('verify')
    .description('check that no record was edited, removed or moved')
    .option(...DATA_OPTION)
    .option('--head <seq:hash>', 'a head that was noted elsewhere')
    .option('--json', 'answer as JSON')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => answer(verify(options, new Output(options))))
}

function verify(options: Options, output: Output): 0 | 1 {
  const noted = options.head === undefined ? [] : [readHeadNote(options.head)]
  return withLedger(options.data, (ledger) => {
    const { records, head, problems } = verifyLedger(ledger, noted)
    const ok = problems.length === 0
    output.value({ ok, records, head, problems })
    for (const { message } of problems) output.line(`${output.paint('red', 'broken')}: ${message}`)
    if (problems.length === PROBLEMS_MAX)
      output.line(output.paint('dim', `these are the first ${PROBLEMS_MAX}`))
    const what = ok ? output.paint('green', 'ok') : output.paint('red', 'not as it was written')
    output.line(`${what}: ${plural(records, 'record')}`)
    if (ok && records > 0) output.line(output.paint('dim', `head ${head.seq}:${head.hash}`))
    return ok ? 0 : 1
  })
}

function readHeadNote(text: string): Noted {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (seq !== undefined && hash !== undefined) return { seq: Number(seq), hash }
  throw new CliError(
    'CLI_ARGUMENT',
    `\`${text}\` is no head`,
    'write it as `sluice ledger verify` printed it: the number, `:` and 64 hex digits',
  )
}
