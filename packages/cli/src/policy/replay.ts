// `sluice policy replay`: what would another policy have decided on the recorded calls? Shows every
// decision that changes, and says where the record does not hold enough to tell.

import { LOCAL_POLICY } from '@sluice/gateway/config/grants'
import { idOfDocument } from '@sluice/gateway/operations/recorded-calls'
import { type Replay, replay } from '@sluice/gateway/operations/replay'
import { DATA, findData } from '../connect/find-data.ts'
import { loadGatePolicy, TOOLS } from '../connect/gate-policy.ts'
import { readTime } from '../connect/read-option.ts'
import { withLedger } from '../ledger/source.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readTools } from '../terminal/read-tools.ts'
import { readSeenTools } from './seen-tools.ts'

const EXAMPLES = `
Examples:
  sluice policy replay --policy stricter.yaml               the last day under another policy
  sluice policy replay --policy stricter.yaml --since 7d --json
  sluice policy replay                                      under the gate's policy as it is saved now
  sluice policy replay --policy ci.yaml --for ci            calls that the document \`ci\` judged

Arguments are not kept, only what the rules in force read of them: numbers, booleans and enums, texts
with \`ledger: { record: judged }\`. A call that cannot be judged from that is counted as unknown,
unless this very document decided it.
Answers bring the labels of the policy that is tried. Limits are counted from the calls on record alone. Exit code 0 if no decision changes, 1 otherwise.`

const OPTIONS = {
  ...DATA,
  '--policy <file>': "the policy to try, instead of the gate's document of --for as it is saved",
  '--house <file>':
    "base policy, whose guardrails apply on top (default: the gate's, with its policy)",
  '--for <name>': ['only calls that the document of this name judged', LOCAL_POLICY],
  ...TOOLS,
  '--since <time>': ['how far back: `15m`, `2h`, `7d`, or a time', '1d'],
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'replay',
  options: OPTIONS,
  examples: EXAMPLES,
  run,
})

async function run(options: Options, output: Output): Promise<0 | 1> {
  const { data } = findData(options)
  const { policy, text } = loadGatePolicy(options, output, options.for)
  const id = idOfDocument(options.for, text, policy)
  const tools = options.tools === undefined ? readSeenTools(data) : await readTools(options.tools)
  const sinceMs = readTime(options.since, '--since') ?? 0
  const result = withLedger(data, (ledger) =>
    replay(ledger, { policy, id, name: options.for, sinceMs, tools }),
  )
  output.value({ ...result, reasons: Object.fromEntries(result.reasons) })
  printReplay(result, output)
  if (policy.shadow)
    output.remark(
      'note: the policy only observes, so everything passes; `sluice enforce --dry-run` lists what it would have held',
    )
  return result.flips.length > 0 ? 1 : 0
}

function printReplay({ calls, same, unknown, flips, reasons }: Replay, output: Output): void {
  for (const { tool, from, to, rule, reason, count, records } of flips) {
    const words = output.paint('bold', `${from} -> ${to}`)
    const why = reason === '' ? '' : ` (${printable(reason)})`
    output.line(`${words}  ${printable(tool)}  ${printable(rule)}${why}`)
    output.dim(`  ${plural(count, 'call')}, records ${records.join(', ')}`)
  }
  for (const [reason, count] of reasons)
    output.line(
      `${output.paint('yellow', 'unknown')}  ${plural(count, 'call')}: ${printable(reason)}`,
    )
  const changed = calls - same - unknown
  output.line(`${plural(calls, 'call')}: ${same} the same, ${changed} change, ${unknown} unknown`)
}
