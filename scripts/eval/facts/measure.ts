// How far two readers agree, and how well rules give the facts of a tool: share of agreement, Cohen's kappa, precision
// and recall.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import {
  DANGER,
  FACT_NAMES,
  type Fact,
  type FactValues,
  type LabelledFacts,
  type Settling,
  settle,
} from './labels.ts'

export function printAgreement(labels: readonly LabelledFacts[]): void {
  for (const fact of FACT_NAMES) {
    const pairs = labels.map(({ a, b }) => [a[fact], b[fact]] as const)
    const isDanger = (value: string) => String(DANGER[fact].includes(value))
    const dangers = pairs.map(([one, other]) => [isDanger(one), isDanger(other)] as const)
    console.log(`${fact.padEnd(8)} ${agree(pairs)}; danger or not: ${agree(dangers)}`)
  }
}

type Pair = readonly [string, string]

function agree(pairs: readonly Pair[]): string {
  const same = pairs.filter(([one, other]) => one === other).length / pairs.length
  const share = (at: 0 | 1, value: string) =>
    pairs.filter((pair) => pair[at] === value).length / pairs.length
  const values = [...new Set(pairs.flat())]
  const chance = values.reduce((sum, value) => sum + share(0, value) * share(1, value), 0)
  const kappa = chance === 1 ? 1 : (same - chance) / (1 - chance)
  return `${percent(same)} %, kappa ${kappa.toFixed(2)}`
}

/** The facts of a tool by rules; `nobody` and `no` where they say nothing. */
export type FactRules = (tool: ToolDefinition) => FactValues

/** Precision and recall of danger in each fact, then of each dangerous value by itself. */
export function printScores(
  labels: readonly LabelledFacts[],
  rules: FactRules,
  how: Settling,
): void {
  for (const fact of FACT_NAMES) {
    const cases = labels.flatMap((label) => {
      const truth = settle(fact, label, how)
      return truth === undefined ? [] : [[truth, rules(label.tool)[fact]] as const]
    })
    const danger = score(cases, (value) => DANGER[fact].includes(value))
    const excluded = labels.length - cases.length
    console.log(`${fact.padEnd(8)} ${danger}; ${cases.length} tools, ${excluded} excluded`)
    if (DANGER[fact].length === 1) continue
    for (const value of DANGER[fact])
      console.log(`  ${value.padEnd(14)} ${score(cases, (one) => one === value)}`)
  }
}

/** Precision: of what the rules call dangerous, what is. Recall: of what is dangerous, what the rules call so. */
function score(cases: readonly Pair[], isWanted: (value: string) => boolean): string {
  const wanted = cases.filter(([truth]) => isWanted(truth)).length
  const given = cases.filter(([, rule]) => isWanted(rule)).length
  const right = cases.filter(([truth, rule]) => isWanted(truth) && isWanted(rule)).length
  const share = (of: number) => (of === 0 ? '–' : `${percent(right / of)} %`)
  return `precision ${share(given)} (${right} of ${given}), recall ${share(wanted)} (${right} of ${wanted})`
}

function percent(share: number): string {
  return (100 * share).toFixed(1)
}

/** The tools on which rules and labels differ in a fact, for the one who writes rules on the first half. */
export function listMisses(
  labels: readonly LabelledFacts[],
  rules: FactRules,
  fact: Fact,
): string[] {
  return labels.flatMap((label) => {
    const truth = settle(fact, label, 'excluded')
    const given = rules(label.tool)[fact]
    const { server, name } = label.tool
    return truth === undefined || truth === given
      ? []
      : [`${server}/${name}: ${truth}, by rules ${given}`]
  })
}
