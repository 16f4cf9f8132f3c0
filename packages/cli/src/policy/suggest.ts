// `sluice policy suggest --from ledger`: the tightest policy that keeps past traffic, and how it does
// on days it has not seen; or, with `--against`, the smallest change that stops a bad call.

import { writeFileSync } from 'node:fs'
import { LOCAL_POLICY } from '@sluice/gateway/config/grants'
import {
  type DayValidation,
  fitPolicy,
  isLearned,
  isToolCall,
  toolOf,
  validateByDay,
} from '@sluice/gateway/operations/fit-policy'
import { type KeptDocument, keepDocument } from '@sluice/gateway/operations/keep-rules'
import {
  collectTraffic,
  evaluateTraffic,
  type TrafficCall,
} from '@sluice/gateway/operations/past-traffic'
import { type StopSuggestion, suggestStops } from '@sluice/gateway/operations/stop-call'
import type { DecisionRecord } from '@sluice/ledger/records/record'
import { attempt } from '@sluice/policy/structures/attempt'
import { countEach } from '@sluice/policy/structures/count-each'
import { unescapePointer } from '@sluice/policy/values/json-pointer'
import { DATA, findData } from '../connect/find-data.ts'
import { loadGatePolicy, TOOLS } from '../connect/gate-policy.ts'
import { readCount, readTime } from '../connect/read-option.ts'
import { withLedger } from '../ledger/source.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readTools } from '../terminal/read-tools.ts'
import { readSeenTools } from './seen-tools.ts'
import { suggestTrust } from './suggest-trust.ts'

const EXAMPLES = `
Examples:
  sluice policy suggest --from ledger --since 30d --out tight.yaml
  sluice policy suggest --from ledger --since 30d --margin 0.5
  sluice policy suggest --from ledger --against 1207        stop this call and its kin
  sluice policy suggest --from ledger --against 1207 --against 1311
  sluice policy suggest --trust --traces sessions.jsonl --tools tools.json --injections attacks.jsonl

The policy in force, made stricter: a rule for each tool that was called, with what was recorded of its arguments as
bounds, what goes beyond them asks a person, and the busiest minute of a session as its rate. What was never called is
denied. Conditions, limits, guardrails, labels and \`protect\` stay; the rules that are gone are listed, and how many calls
that passed it would have stopped. Nothing is looser than in force: if no rule of a tool is provably as strict as those
that apply to it now (a limit that counts for several tools), all of them stay, and that is said. It learns from what the policy allowed or a person approved: in observe mode, what
it would have refused is no example.
False blocks are measured by leaving days out: a policy made of the other days decides them.
With --against, a guardrail on the tool of the call (its number as \`sluice ledger query\` shows it):
of the conditions that were true of it the ones that hit the fewest legitimate calls, all listed.
With --trust, entries for \`trust\` from recorded sessions in the format of \`policy simulate\`: fields that had a value
of a call that is held, with the sessions that each entry would free and the forged attacks that it would let through.
The ledger holds no answers, and of arguments only what rules in force at the time read: numbers,
booleans and words of an enum, texts with \`ledger: { record: judged }\`. What is missing is reported.`

const OPTIONS = {
  ...DATA,
  '--from <source>': ['what to learn from: `ledger`', 'ledger'],
  '--for <name>': ['only calls that the document of this name judged', LOCAL_POLICY],
  ...TOOLS,
  '--since <time>': ['how far back: `15m`, `2h`, `7d`, or a time', '30d'],
  '--margin <share>': ['how far beyond what was seen numbers and rates may go', '0'],
  '--against <record>': {
    doc: 'a bad call, by the number of its record; more than once',
    many: true,
  },
  '--trust': 'propose entries for `trust`, from --traces',
  '--traces <file>': 'with --trust: recorded sessions, a JSON object a line',
  '--injections <file>': 'with --trust: attacks to play on them',
  '--policy <file>': "with --trust: a policy document, instead of the gate's",
  '--no-prompt': 'with --trust: as if what the user asked for was not known',
  '--accept': 'with --trust: write addresses too, after you have checked who writes them',
  '--out <file>': 'write the policy there, or the entries',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'suggest',
  options: OPTIONS,
  examples: EXAMPLES,
  run,
})

async function run(options: Options, output: Output): Promise<0 | 1> {
  if (options.trust === true) return suggestTrust(options, output)
  if (options.from !== 'ledger')
    throw new ArgumentError(`--from is \`${options.from}\``, 'it takes `ledger`')
  const margin = readMargin(options.margin)
  const { data } = findData(options)
  const tools = options.tools === undefined ? readSeenTools(data) : await readTools(options.tools)
  const sinceMs = readTime(options.since, '--since') ?? 0
  // A suggested guardrail is put into this document, so it is its labels that the guardrail will read.
  const loaded =
    options.data === undefined
      ? attempt(() => loadGatePolicy({ config: options.config }, output, options.for))
      : undefined
  const document = loaded?.policy
  const { calls, left } = withLedger(data, (ledger) =>
    collectTraffic(ledger, { name: options.for, sinceMs, tools, document }),
  )
  if (left > 0)
    output.remark(`note: ${plural(left, 'older call')} left out, the newest ${calls.length} count`)
  if (options.against !== undefined) return stop(options.against, calls, output)
  const kept = loaded && keepDocument(loaded.policy, loaded.text)
  return fit(calls, { margin, out: options.out, kept }, output)
}

function readMargin(text: string): number {
  const margin = Number(text)
  if (text.trim() !== '' && margin >= 0 && margin <= 10) return margin
  throw new ArgumentError(`--margin is \`${text}\``, 'a number from 0 to 10')
}

function fit(
  calls: readonly TrafficCall[],
  { margin, out, kept }: FitOptions,
  output: Output,
): 0 | 1 {
  const passed = calls.filter(isLearned)
  if (passed.length === 0) {
    output.value({ policy: null, calls: 0 })
    output.line('the policy allowed no call on record in that time: go further back with --since,')
    output.line('or name another document with --for')
    return 1
  }
  const { yaml, policy, unbounded, removed, stays } = fitPolicy(calls, margin, kept)
  const evaluation = evaluateTraffic(policy, passed)
  const days = validateByDay(calls, margin, kept)
  const all = evaluateTraffic(
    policy,
    calls.filter((call) => call.passed),
  )
  const text = `# Fitted to ${plural(passed.length, 'call')} on record. ${rateText(days)}\n${yaml}`
  if (out !== undefined) writeFileSync(out, text)
  output.value({
    policy: text,
    calls: passed.length,
    kept: passed.length - evaluation.stopped.length - evaluation.unknown.length,
    stopped: evaluation.stopped.map(({ seq }) => seq),
    unknown: evaluation.unknown.length,
    validation: days ?? null,
    unbounded,
    removed,
    stays,
    wouldStop: all.stopped.length,
  })
  if (out === undefined) for (const line of text.trimEnd().split('\n')) output.line(printable(line))
  // Below the document they are comments, so that all of it can be saved as a file.
  const note = (line: string) => output.line(out === undefined ? `# ${line}` : line)
  for (const { tool, why } of unbounded)
    note(`${output.paint('yellow', 'no bound')}  ${printable(tool)}: ${printable(why)}`)
  for (const pointer of removed)
    note(`${output.paint('yellow', 'removed')}   ${printable(unescapePointer(pointer))}`)
  for (const name of stays)
    note(`${output.paint('yellow', 'stays')}     ${printable(unescapePointer(name))}`)
  if (stays.length > 0)
    note('no rule in their place is provably as strict, so the other rules of the policy stay, too')
  if (kept === undefined)
    note('no policy in force was found, so nothing of it is kept: name it with --config')
  for (const line of describeStopped(all.stopped)) note(line)
  const known = passed.length - evaluation.stopped.length - evaluation.unknown.length
  note(`${plural(passed.length, 'call')}: ${known} kept, ${evaluation.unknown.length} unknown`)
  note(rateText(days))
  return 0
}

interface FitOptions {
  readonly margin: number
  readonly out: string | undefined
  /** The document in force. */
  readonly kept: KeptDocument | undefined
}

/** What it would have stopped of all that passed, by tool. */
function describeStopped(stopped: readonly DecisionRecord[]): string[] {
  const counts = countEach(stopped.map(({ server, name }) => `${server}/${name}`))
  return [...counts].map(
    ([tool, count]) => `would have stopped ${plural(count, 'call')} of ${printable(tool)}`,
  )
}

function rateText(days: DayValidation | undefined): string {
  if (days === undefined)
    return 'False blocks on unseen days: not measured, all calls are of one day.'
  const { calls, stopped, unknown } = days
  const known = calls - unknown
  const share = known === 0 ? 0 : (100 * stopped) / known
  return `False blocks on unseen days: ${stopped} of ${known} (${share.toFixed(1)} %), ${days.days} days left out in ${days.folds} parts, ${unknown} unknown.`
}

const SHOWN_MAX = 5

function stop(against: readonly string[], calls: readonly TrafficCall[], output: Output): 0 | 1 {
  const numbers = against.map((text) => readCount(text, '--against', 2 ** 50))
  const bad = numbers.map((seq) => findCall(seq, calls))
  if (new Set(bad.map(toolOf)).size > 1)
    throw new ArgumentError('the calls are of several tools', 'ask for one tool at a time')
  const suggestions = suggestStops(bad, calls)
  output.value({ tool: toolOf(bad[0] as TrafficCall), against: numbers, suggestions })
  for (const one of suggestions.slice(0, SHOWN_MAX)) printStop(one, output)
  return 0
}

function findCall(seq: number, calls: readonly TrafficCall[]): TrafficCall {
  const found = calls.find(({ record }) => record.seq === seq)
  if (found !== undefined && isToolCall(found)) return found
  throw new ArgumentError(
    `record ${seq} is not a tool call that the document decided in that time`,
    '`sluice ledger query` shows the numbers; --since goes further back, --for names the document',
  )
}

function printStop({ guardrail, hits, unknown }: StopSuggestion, output: Output): void {
  for (const line of guardrail.trimEnd().split('\n')) output.line(printable(line))
  const list = hits.length === 0 ? '' : `: records ${hits.join(', ')}`
  const more = unknown === 0 ? '' : `, ${unknown} unknown`
  output.dim(`  # stops ${plural(hits.length, 'legitimate call')} as well${list}${more}`)
}
