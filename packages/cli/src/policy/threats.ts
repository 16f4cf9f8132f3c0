// `sluice threats`: the shortest sequence of calls by which a stranger could do harm under the gate's policy, the smallest
// change that closes it, and how many recorded calls that change would have held.

import { LOCAL_POLICY } from '@sluice/gateway/config/grants'
import { idOfDocument } from '@sluice/gateway/operations/recorded-calls'
import { listRecordedHosts } from '@sluice/gateway/operations/recorded-hosts'
import { replay } from '@sluice/gateway/operations/replay'
import { nearest } from '@sluice/policy/document/nearest'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { attempt } from '@sluice/policy/structures/attempt'
import { type LoadedPolicy, loadGatePolicy, POLICY, TOOLS } from '../connect/gate-policy.ts'
import { readTime } from '../connect/read-option.ts'
import { withLedger } from '../ledger/source.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { loadBasePolicy } from '../terminal/load-policy.ts'
import type { Output } from '../terminal/output.ts'
import { listClosings, type RejectedChange, toEnforced } from '../threats/close-path.ts'
import { findThreats } from '../threats/search-paths.ts'
import {
  HARMS,
  type Harm,
  type HarmResult,
  isSerious,
  type ThreatReport,
} from '../threats/threat.ts'
import { type PricedClosing, printThreats } from './print-threats.ts'
import { readThreatGate, type ThreatGate } from './threat-gate.ts'

const EXAMPLES = `
Examples:
  sluice threats                             what a text of a stranger can lead to under the gate's policy
  sluice threats --all                       every path, not one for each harm
  sluice threats --close code > new.yaml     the document with the smallest change that closes it
  sluice threats --fail-on secret,code,gate  for CI: exit code 1 if one of them is open
  sluice threats --policy policy.yaml --tools tools.json
  sluice threats --json                      every path and change, with the changes that were tried in vain

Harms: ${HARMS.join(', ')}.
open        here are the calls, each of which the engine allows
closed      proved: no branch of any rule lets a tool that could do it pass
none found  so many sequences were played, which proves nothing
A path is what a stranger's text can make an agent do that obeys it. What is known of tools comes from hooks, from their
arguments, from sluice.yaml, and from \`labels\` and \`classify\` of the policy. A path that also needs a guess by words is
marked "perhaps", comes last and fails nothing.`

const OPTIONS = {
  ...POLICY,
  '--for <name>': ['the document of this name', LOCAL_POLICY],
  ...TOOLS,
  '--since <time>': ['recorded calls that count for the price of a change', '7d'],
  '--close <harm>': 'print the document with the smallest change that closes this harm',
  '--fail-on <harms>': 'exit code 1 if one of these is open, such as `secret,code`',
  '--all': 'show every path',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'threats',
  options: OPTIONS,
  examples: EXAMPLES,
  run,
})

/** Changes that are offered for a harm. */
const CLOSINGS_SHOWN = 3

async function run(options: Options, output: Output): Promise<0 | 1> {
  const failOn = readHarms('--fail-on', options.failOn)
  const [close] = readHarms('--close', options.close)
  const loaded = loadGatePolicy(options, output, options.for)
  const gate = await readThreatGate(options, loaded.source, output)
  const { tools } = gate.inputs
  if (tools.length === 0)
    throw new CliError('CLI_TOOLS', 'no tool is known', 'start the gate once, or give --tools')
  const policy = toEnforced(loaded.policy)
  const inputs = { ...gate.inputs, policy, nowMs: () => performance.now() }
  const report = findThreats(inputs)
  const open = report.harms.filter(({ result }) => result === 'open')
  const openHarms = new Set(open.map(({ harm }) => harm))
  const base = loadBasePolicy(loaded.source.house, output)
  const document = { file: loaded.source.file, text: loaded.text, ...base }
  const wanted = close === undefined ? open : open.filter(({ harm }) => harm === close)
  const hosts = readHosts(options, gate)
  const closings = new Map<Harm, PricedClosing[]>()
  const rejected = new Map<Harm, readonly RejectedChange[]>()
  for (const found of wanted.filter(({ paths }) => close !== undefined || paths.some(isSerious))) {
    const max = close === undefined ? CLOSINGS_SHOWN : 1
    const tried = listClosings(inputs, { document, found, open: openHarms, hosts, max })
    const priced = tried.closings.map((one) => ({
      ...one,
      price: readPrice(options, gate, loaded, one.policy),
    }))
    closings.set(found.harm, priced)
    rejected.set(found.harm, tried.rejected)
  }
  if (close !== undefined) return printClosed(close, wanted[0], closings.get(close)?.[0], output)
  output.value(toView(report, { closings, rejected }, loaded.policy))
  printThreats(
    { report, closings, policy: loaded.policy, gate, isAll: options.all === true },
    output,
  )
  return isFailed(report, failOn, tools.length) ? 1 : 0
}

/** `secret,code`; empty if the option is not given. */
function readHarms(option: string, text: string | undefined): Harm[] {
  if (text === undefined) return []
  return text.split(',').map((word) => {
    const harm = HARMS.find((one) => one === word.trim())
    if (harm !== undefined) return harm
    const near = nearest(word.trim(), HARMS)
    throw new ArgumentError(
      `${option} is \`${text}\`: there is no harm \`${word.trim()}\``,
      near === undefined ? `one of ${HARMS.join(', ')}` : `did you mean \`${near}\`?`,
    )
  })
}

/** A tenth of all tools may be unknown: beyond it, what was found says too little to pass a build. */
function isFailed(
  { harms, unjudged, isCutShort }: ThreatReport,
  failOn: readonly Harm[],
  tools: number,
) {
  if (failOn.length === 0) return false
  const isOpen = harms.some(({ harm, paths }) => failOn.includes(harm) && paths.some(isSerious))
  return isOpen || isCutShort || unjudged.length * 10 > tools
}

function printClosed(
  harm: Harm,
  found: HarmResult | undefined,
  closing: PricedClosing | undefined,
  output: Output,
): 0 | 1 {
  if (closing === undefined) {
    const why =
      found === undefined
        ? 'it is not open'
        : 'no change of rules closes it without a person for every call'
    throw new ArgumentError(`--close is \`${harm}\`: ${why}`, '`sluice threats` shows what is open')
  }
  const { what, text, isOnlyStricter } = closing
  output.value({ harm, what, isOnlyStricter, policy: text })
  if (!output.json) process.stdout.write(text)
  output.remark(
    `note: ${what}${isOnlyStricter ? '' : '; `sluice policy apply` will ask for your PIN'}`,
  )
  return 0
}

/** Empty without a record. */
function readHosts(
  { for: name, since }: Options,
  { data }: ThreatGate,
): ReadonlyMap<string, readonly string[]> {
  const sinceMs = readTime(since, '--since') ?? 0
  const read = (from: string) =>
    attempt(() => withLedger(from, (ledger) => listRecordedHosts(ledger, { name, sinceMs })))
  return (data === undefined ? undefined : read(data)) ?? new Map()
}

/** How many recorded calls a change would have held; undefined without a record. */
function readPrice(
  { for: name, since }: Options,
  { data, inputs }: ThreatGate,
  { policy, text }: LoadedPolicy,
  changed: CompiledPolicy,
): PricedClosing['price'] {
  if (data === undefined) return undefined
  const sinceMs = readTime(since, '--since') ?? 0
  const current = { policy, id: idOfDocument(name, text, policy) }
  const result = attempt(() =>
    withLedger(data, (ledger) =>
      replay(ledger, {
        policy: changed,
        id: undefined,
        current,
        name,
        sinceMs,
        tools: inputs.tools,
      }),
    ),
  )
  if (result === undefined) return undefined
  const flips = result.flips.filter(({ from, to }) => from === 'allow' && to !== 'allow')
  const held = flips.reduce((sum, { count }) => sum + count, 0)
  return { calls: result.calls, held, unknown: result.unknown }
}

function toView(
  { harms, unjudged, isCutShort }: ThreatReport,
  {
    closings,
    rejected,
  }: {
    readonly closings: ReadonlyMap<Harm, readonly PricedClosing[]>
    readonly rejected: ReadonlyMap<Harm, readonly RejectedChange[]>
  },
  { shadow }: CompiledPolicy,
) {
  return {
    enforced: !shadow,
    stopped: isCutShort,
    unjudged,
    harms: harms.map(({ paths, ...found }) => ({
      ...found,
      paths: paths.map((path) => ({ ...path, serious: isSerious(path) })),
      closings: (closings.get(found.harm) ?? []).map(({ what, isOnlyStricter, price }) => ({
        what,
        isOnlyStricter,
        price: price ?? null,
      })),
      rejected: rejected.get(found.harm) ?? [],
    })),
  }
}
