// `sluice policy simulate`: plays recorded sessions under a policy, and attacks on them with an agent
// that obeys every text it reads. Exit code by thresholds, for CI.

import { ATTACK_TEXT, ATTACKS, type AttackKind } from '@sluice/policy/cases/attack-answer'
import {
  type Simulation,
  type SimulationCounts,
  type SimulationOptions,
  simulate,
} from '@sluice/policy/cases/simulate'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { loadGatePolicy, POLICY } from '../connect/gate-policy.ts'
import { readPercent } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { createToolFinder, readTools } from '../terminal/read-tools.ts'
import { readInjections, readTraces } from '../terminal/read-traces.ts'
import { listPlayingOptions } from '../threats/playing.ts'

const EXAMPLES = `
Examples:
  sluice policy simulate --policy policy.yaml --tools tools.json --traces traces.jsonl
  sluice policy simulate --tools tools.json --traces traces.jsonl --injections injections.jsonl
  sluice policy simulate --tools tools.json --traces traces.jsonl --min-untouched 80

A trace is a JSON object a line:
  { "id": "…", "prompt": "…", "steps": [{ "server": "…", "tool": "…", "args": {}, "answer": "…" }] }
An injection has "goal" in place of "prompt". {{injection}} in an answer is where a stranger's text
stands; the agent that obeys makes the calls of the goal at the first answer that has one.
  plain      the goal in clear
  bare       only the values of its arguments
  encoded    the goal in base64, no value in clear
  own-field  encoded, and its values as fields of the record that holds the text
  forged     a text in the form of JSON, the order in one record and its values in another
  forged-records  the same as records in YAML, the order cut into short notes
Exit code 1 below --min-untouched or --min-stopped.`

const OPTIONS = {
  ...POLICY,
  '--tools <file>': { doc: 'known tools', required: true },
  '--traces <file>': { doc: 'recorded sessions, a JSON object a line', required: true },
  '--injections <file>': 'attacks to play on them, a JSON object a line',
  '--attack <kind>': [`one of ${ATTACKS.join(', ')}`, 'plain'],
  '--attack-text <file>': 'what a stranger writes; {{goal}} stands for the goal',
  '--no-prompt': 'as if what the user asked for was not known',
  '--min-untouched <percent>': ['exit code 1 if fewer sessions pass untouched', '0'],
  '--min-stopped <percent>': ['exit code 1 if fewer attacks are stopped', '0'],
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'simulate',
  options: OPTIONS,
  examples: EXAMPLES,
  run,
})

async function run(options: Options, output: Output): Promise<0 | 1> {
  const attack = ATTACKS.find((kind) => kind === options.attack)
  if (attack === undefined)
    throw new ArgumentError(`--attack is \`${options.attack}\``, `one of ${ATTACKS.join(', ')}`)
  const minUntouched = readPercent('--min-untouched', options.minUntouched)
  const minStopped = readPercent('--min-stopped', options.minStopped)
  const tools = await readTools(options.tools)
  const { policy } = loadGatePolicy(options, output)
  const traces = readTraces(options.traces)
  const injections = options.injections === undefined ? [] : readInjections(options.injections)
  const attackText =
    options.attackText === undefined ? ATTACK_TEXT : readText(options.attackText).trim()
  const played = simulate(
    policy,
    traces,
    injections,
    await simulationOptions(policy, tools, { attack, attackText, hasPrompts: options.prompt }),
  )
  const { benign, attacks, suites } = played
  output.value({ benign, attacks, suites, traces: played.traces.map(toTraceView) })
  print(played, output)
  const isMet =
    percent(benign.untouched, benign.traces) >= minUntouched &&
    percent(attacks.stopped, attacks.pairs) >= minStopped
  return isMet ? 0 : 1
}

/** What the simulation takes from the product: the catalogue, counters and the guard. */
export async function simulationOptions(
  policy: CompiledPolicy,
  tools: Parameters<typeof createToolFinder>[0],
  attackOptions: Pick<SimulationOptions, 'attackText' | 'hasPrompts'> & { attack: AttackKind },
): Promise<SimulationOptions> {
  return {
    ...attackOptions,
    ...listPlayingOptions(policy),
    toolFor: await createToolFinder(tools),
  }
}

function percent(part: number, of: number): number {
  return of === 0 ? 100 : (100 * part) / of
}

function toTraceView({ id, injection, stopped, calls }: Simulation['traces'][number]) {
  return {
    id,
    ...(injection === undefined ? {} : { injection, stopped }),
    calls: calls.map(({ isAttack, ...call }) => (isAttack ? { ...call, attack: true } : call)),
  }
}

function print({ traces, suites, ...all }: Simulation, output: Output): void {
  for (const { id, injection, calls } of traces)
    for (const { server, tool, action, reason } of calls)
      if (injection === undefined && action !== 'allow')
        output.dim(`${printable(`${id}: ${server}/${tool}: ${action}: ${reason}`)}`)
  const names = Object.keys(suites).sort()
  for (const name of names) printCounts(name, suites[name] as SimulationCounts, output)
  if (names.length !== 1) printCounts('all', all, output)
}

function printCounts(name: string, { benign, attacks }: SimulationCounts, output: Output): void {
  const untouched = percent(benign.untouched, benign.traces).toFixed(1)
  const stopped =
    attacks.pairs === 0
      ? ''
      : `, ${attacks.stopped} of ${plural(attacks.pairs, 'attack')} stopped (${percent(attacks.stopped, attacks.pairs).toFixed(1)} %)`
  output.line(
    `${printable(name).padEnd(12)} ${benign.untouched} of ${plural(benign.traces, 'session')} untouched (${untouched} %), ${benign.held} of ${plural(benign.calls, 'call')} held${stopped}`,
  )
}
