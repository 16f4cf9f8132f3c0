// What `sluice threats` prints: for each open harm one path with the rules that allow its calls, what closes it and at what
// price; then what is perhaps open, what is closed, and what was not judged.

import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { getRuleLocation } from '../terminal/explanation.ts'
import { type Output, plural, printable, toJsonLine } from '../terminal/output.ts'
import type { ClosingChange } from '../threats/close-path.ts'
import {
  HARM_TITLES,
  type Harm,
  type HarmResult,
  isSerious,
  type ThreatPath,
  type ThreatReport,
} from '../threats/threat.ts'
import type { ThreatGate } from './threat-gate.ts'

/** What a change would have cost. */
export interface ClosingPrice {
  /** Recorded calls. */
  readonly calls: number
  /** Of them: those that the change would have held for certain. */
  readonly held: number
  /** Those of which the record does not say enough to tell. */
  readonly unknown: number
}

export interface PricedClosing extends ClosingChange {
  /** Undefined without a record. */
  readonly price: ClosingPrice | undefined
}

interface PrintedThreats {
  readonly report: ThreatReport
  readonly closings: ReadonlyMap<Harm, readonly PricedClosing[]>
  readonly policy: CompiledPolicy
  readonly gate: ThreatGate
  readonly isAll: boolean
}

const WIDTH = 15
const GAP = ' '.repeat(WIDTH + 2)
/** Of the arguments of a step. */
const ARGS_SHOWN = 160
const OTHERS_SHOWN = 6

export function printThreats(shown: PrintedThreats, output: Output): void {
  const { report, gate, policy } = shown
  const { harms, unjudged, isCutShort } = report
  const { tools } = gate.inputs
  const servers = new Set(tools.map(({ definition }) => definition.server))
  const serious = harms.filter(({ paths }) => paths.some(isSerious))
  if (policy.shadow)
    output.line(
      output.paint('yellow', 'nothing is enforced: all of it is open. As if the rules held:'),
    )
  if (isCutShort) output.line(output.paint('yellow', 'stopped: not everything was tried'))
  output.line(
    `${serious.length} of ${harms.length} harms are open. ${plural(tools.length, 'tool')} of ${plural(servers.size, 'server')}.`,
  )
  for (const found of serious) printOpen(found, shown, output)
  for (const found of harms)
    for (const path of found.paths
      .filter((one) => !isSerious(one))
      .slice(0, shown.isAll ? undefined : 1))
      if (shown.isAll || !serious.includes(found)) printPath(path, shown, output)
  output.line()
  for (const found of harms.filter(({ result }) => result !== 'open')) printShut(found, output)
  const bounded = harms.reduce((sum, { boundedCount }) => sum + boundedCount, 0)
  if (bounded > 0)
    output.line(
      `${'isolation'.padEnd(WIDTH)}  ${plural(bounded, 'way')} more end outside of what a server or a box is given`,
    )
  printRest(unjudged, gate, output)
}

function printRest(unjudged: readonly string[], { unlocked }: ThreatGate, output: Output): void {
  if (unjudged.length > 0)
    output.line(
      `${'not judged'.padEnd(WIDTH)}  ${plural(unjudged.length, 'tool')}: the class is a guess. Say what each does under \`classify\`: ${listSome(unjudged)}`,
    )
  if (unlocked.length > 0)
    output.line(
      `${'beside calls'.padEnd(WIDTH)}  ${plural(unlocked.length, 'server')} can do as the gate's user does, and reach any host: \`sluice server lock ${printable(unlocked[0] ?? '')}\``,
    )
  output.dim(`${GAP}An allowed call used for a bad end is still possible.`)
}

function printOpen(found: HarmResult, shown: PrintedThreats, output: Output): void {
  const [best, ...others] = found.paths.filter(isSerious)
  if (best === undefined) return
  printPath(best, shown, output)
  if (shown.isAll) for (const path of others) printPath(path, shown, output)
  else if (others.length > 0) output.dim(`${GAP}also by ${listSome(others.map(({ end }) => end))}`)
  const closings = shown.closings.get(found.harm) ?? []
  for (const [index, { what, isOnlyStricter, price }] of closings.entries()) {
    const consent = isOnlyStricter ? 'only stricter' : 'may be looser elsewhere: needs your PIN'
    output.line(`  ${(index === 0 ? 'close it' : 'or').padEnd(WIDTH)}${what}  (${consent})`)
    output.dim(`${GAP}${describePrice(price)}`)
  }
  if (closings.length === 0)
    output.line(`  ${'close it'.padEnd(WIDTH)}no change of rules that was tried closes all of it`)
}

function printPath(
  { harm, writer, steps, guesses, reach }: ThreatPath,
  { policy }: PrintedThreats,
  output: Output,
): void {
  const kind =
    guesses.length > 0 ? 'perhaps: ' : writer === undefined ? 'a mistake of the agent: ' : ''
  output.line()
  output.line(
    `${output.paint('bold', HARM_TITLES[harm].padEnd(WIDTH))}  ${kind}${plural(steps.length, 'call')}, nobody is asked; ${reach}.${writer === undefined ? '' : ` Begins with a text of: ${writer}`}`,
  )
  for (const [index, { tool, args, rule, does }] of steps.entries()) {
    const text = toJsonLine(args)
    const cut = text.length > ARGS_SHOWN ? `${text.slice(0, ARGS_SHOWN)}…` : text
    output.line(`  ${index + 1}  ${printable(tool)} ${printable(cut)}`)
    output.dim(`     ${does}: allowed by ${getRuleLocation(policy, rule)}`)
  }
  if (guesses.length > 0) output.dim(`     if ${guesses.join(', and ')}`)
}

function describePrice(price: ClosingPrice | undefined): string {
  if (price === undefined) return 'price: no record'
  const { calls, held, unknown } = price
  const most = unknown === 0 ? '' : `, at most ${held + unknown}: what decides it is not recorded`
  return `price: ${held} of ${plural(calls, 'recorded call')} would have waited${most}`
}

function printShut({ harm, result, toolCount, playCount }: HarmResult, output: Output): void {
  const tools = toolCount === 0 ? 'no tool could' : plural(toolCount, 'tool')
  const said =
    result === 'closed'
      ? `closed, ${tools}`
      : `none found, ${plural(playCount, 'way')} played, which proves nothing`
  output.line(`${HARM_TITLES[harm].padEnd(WIDTH)}  ${said}`)
}

function listSome(names: readonly string[]): string {
  const more = names.length - OTHERS_SHOWN
  const some = names.slice(0, OTHERS_SHOWN).map(printable).join(', ')
  return more > 0 ? `${some} and ${more} more (--all, --json)` : some
}
